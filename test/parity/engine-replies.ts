const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };

/** A body that SMG can read where it does read answers. */
export function engineReply(path: string, body: string): unknown {
  const model = modelOf(body);
  switch (path) {
    case '/v1/chat/completions':
      return {
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model,
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
        usage,
      };
    case '/v1/completions':
      return {
        id: 'c',
        object: 'text_completion',
        created: 1,
        model,
        choices: [{ index: 0, text: 'Hi', logprobs: null, finish_reason: 'stop' }],
        usage,
      };
    case '/v1/messages':
      return {
        id: 'm',
        type: 'message',
        role: 'assistant',
        model,
        content: [{ type: 'text', text: 'Hi' }],
        stop_reason: 'end_turn',
        usage: { input_tokens: 1, output_tokens: 1 },
      };
    case '/v1/embeddings':
      return { object: 'list', model, data: [{ object: 'embedding', index: 0, embedding: [0.1] }], usage };
    case '/rerank':
    case '/v1/rerank':
      return [{ score: 0.5, document: 'd', index: 0, meta_info: null }];
    default:
      return { text: 'Hi', meta_info: { id: '1', finish_reason: { type: 'stop' }, prompt_tokens: 1 } };
  }
}

function modelOf(body: string): string {
  try {
    return String((JSON.parse(body) as { model?: unknown }).model ?? 'm');
  } catch {
    return 'm';
  }
}
