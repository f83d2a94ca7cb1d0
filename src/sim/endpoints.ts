/** The request as an answer needs it. */
export interface Ask {
  readonly path: string;
  readonly model: string;
  /** Words of the answer, one a token. */
  readonly words: readonly string[];
  /** Tokens the prompt is said to have. */
  readonly promptTokens: number;
  /** Texts of a rerank, or inputs of an embedding or classification. */
  readonly inputs: readonly string[];
  /** Number of this request at its worker, for ids. */
  readonly serial: number;
  /** Unix time in seconds. */
  readonly created: number;
}

/** One endpoint: its whole answer, and its events where it can stream. */
export interface Endpoint {
  readonly reply: (ask: Ask) => object;
  /** Server-sent events: first the ones before any token, then one a token, then the closing ones. */
  readonly events?: (ask: Ask) => {
    readonly head: string;
    readonly token: (word: string) => string;
    readonly tail: string;
  };
}

const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const event = (type: string, fields: object): string => `event: ${type}\n${data({ type, ...fields })}`;
const DONE = 'data: [DONE]\n\n';

const usage = (ask: Ask) => ({
  prompt_tokens: ask.promptTokens,
  completion_tokens: ask.words.length,
  total_tokens: ask.promptTokens + ask.words.length,
});
const anthropicUsage = (ask: Ask) => ({ input_tokens: ask.promptTokens, output_tokens: ask.words.length });
const text = (ask: Ask): string => ask.words.join('');

const chat: Endpoint = {
  reply: (ask) => ({
    id: `chatcmpl-${ask.serial}`,
    object: 'chat.completion',
    created: ask.created,
    model: ask.model,
    choices: [{ index: 0, message: { role: 'assistant', content: text(ask) }, logprobs: null, finish_reason: 'stop' }],
    usage: usage(ask),
  }),
  events: (ask) => {
    const chunk = (delta: object, finish: string | null): string =>
      data({
        id: `chatcmpl-${ask.serial}`,
        object: 'chat.completion.chunk',
        created: ask.created,
        model: ask.model,
        choices: [{ index: 0, delta, finish_reason: finish }],
      });
    return {
      head: chunk({ role: 'assistant', content: '' }, null),
      token: (word) => chunk({ content: word }, null),
      tail: chunk({}, 'stop') + DONE,
    };
  },
};

const completion: Endpoint = {
  reply: (ask) => ({
    id: `cmpl-${ask.serial}`,
    object: 'text_completion',
    created: ask.created,
    model: ask.model,
    choices: [{ index: 0, text: text(ask), logprobs: null, finish_reason: 'stop' }],
    usage: usage(ask),
  }),
  events: (ask) => {
    const chunk = (word: string, finish: string | null): string =>
      data({
        id: `cmpl-${ask.serial}`,
        object: 'text_completion',
        created: ask.created,
        model: ask.model,
        choices: [{ index: 0, text: word, logprobs: null, finish_reason: finish }],
      });
    return { head: '', token: (word) => chunk(word, null), tail: chunk('', 'stop') + DONE };
  },
};

function responseObject(ask: Ask, status: string): object {
  const done = status === 'completed';
  const part = { type: 'output_text', text: text(ask), annotations: [] };
  const item = { id: `msg_${ask.serial}`, type: 'message', role: 'assistant', status, content: [part] };
  return {
    id: `resp_${ask.serial}`,
    object: 'response',
    created_at: ask.created,
    status,
    model: ask.model,
    output: done ? [item] : [],
    usage: done ? { ...anthropicUsage(ask), total_tokens: ask.promptTokens + ask.words.length } : null,
  };
}

const responses: Endpoint = {
  reply: (ask) => responseObject(ask, 'completed'),
  events: (ask) => {
    let sequence = 0;
    const next = (type: string, fields: object): string => event(type, { ...fields, sequence_number: sequence++ });
    const at = { item_id: `msg_${ask.serial}`, output_index: 0, content_index: 0 };
    return {
      head: next('response.created', { response: responseObject(ask, 'in_progress') }),
      token: (word) => next('response.output_text.delta', { ...at, delta: word }),
      get tail() {
        const end = next('response.output_text.done', { ...at, text: text(ask) });
        return end + next('response.completed', { response: responseObject(ask, 'completed') });
      },
    };
  },
};

const messages: Endpoint = {
  reply: (ask) => ({
    id: `msg_${ask.serial}`,
    type: 'message',
    role: 'assistant',
    model: ask.model,
    content: [{ type: 'text', text: text(ask) }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: anthropicUsage(ask),
  }),
  events: (ask) => {
    const message = {
      id: `msg_${ask.serial}`,
      type: 'message',
      role: 'assistant',
      model: ask.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: ask.promptTokens, output_tokens: 0 },
    };
    const delta = { stop_reason: 'end_turn', stop_sequence: null };
    const start = event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } });
    const end = event('message_delta', { delta, usage: { output_tokens: ask.words.length } });
    return {
      head: event('message_start', { message }) + start,
      token: (word) => event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: word } }),
      tail: event('content_block_stop', { index: 0 }) + end + event('message_stop', {}),
    };
  },
};

const generate: Endpoint = {
  reply: (ask) => ({
    text: text(ask),
    meta_info: { id: `gnt-${ask.serial}`, finish_reason: { type: 'stop' }, ...usage(ask) },
  }),
  events: (ask) => ({
    head: '',
    token: (word) => data({ text: word, meta_info: { id: `gnt-${ask.serial}`, finish_reason: null } }),
    tail: DONE,
  }),
};

const rerank: Endpoint = {
  reply: (ask) => ({
    id: `rerank-${ask.serial}`,
    model: ask.model,
    usage: { total_tokens: ask.promptTokens },
    results: ask.inputs.map((input, index) => ({
      index,
      document: { text: input },
      relevance_score: 1 / (index + 1),
    })),
  }),
};

const list = (prefix: string, item: (index: number) => object): Endpoint => ({
  reply: (ask) => ({
    id: `${prefix}-${ask.serial}`,
    object: 'list',
    created: ask.created,
    model: ask.model,
    data: ask.inputs.map((_, index) => item(index)),
    usage: { prompt_tokens: ask.promptTokens, total_tokens: ask.promptTokens },
  }),
});

const embeddings = list('embd', (index) => ({ index, object: 'embedding', embedding: [0.25, -0.5, 0.75, 1] }));
const classify = list('classify', (index) => ({ index, label: 'LABEL_0', probs: [0.75, 0.25], num_classes: 2 }));

/** The endpoints of a worker that count as work, by path. */
export const ENDPOINTS: ReadonlyMap<string, Endpoint> = new Map([
  ['/v1/chat/completions', chat],
  ['/v1/completions', completion],
  ['/v1/responses', responses],
  ['/v1/messages', messages],
  ['/v1/messages/count_tokens', { reply: (ask: Ask) => ({ input_tokens: ask.promptTokens }) }],
  ['/v1/embeddings', embeddings],
  ['/v1/classify', classify],
  ['/rerank', rerank],
  ['/v1/rerank', rerank],
  ['/generate', generate],
]);
