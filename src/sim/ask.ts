import type { Ask } from './endpoints.ts';
import type { Knobs } from './knobs.ts';
import type { ReceivedBody } from './received-body.ts';

const BYTES_PER_TOKEN = 4;

/** What a request asks of a worker: model, length of the answer, inputs; guesses where members are missing. */
export function readAsk(path: string, body: ReceivedBody, knobs: Knobs, worker: string, serial: number): Ask {
  const { json } = body;
  return {
    path,
    model: typeof json['model'] === 'string' ? json['model'] : (knobs.models[0] ?? 'sim-model'),
    words: answerWords(worker, Math.min(knobs.tokens, wantedTokens(json))),
    promptTokens: Math.ceil(body.bytes / BYTES_PER_TOKEN),
    inputs: inputsOf(json['documents'] ?? json['input']),
    serial,
    created: Math.floor(Date.now() / 1000),
  };
}

function wantedTokens(json: Readonly<Record<string, unknown>>): number {
  for (const name of ['max_completion_tokens', 'max_tokens', 'max_output_tokens']) {
    const value = json[name];
    if (typeof value === 'number' && value >= 0) return value;
  }
  return Number.POSITIVE_INFINITY;
}

function answerWords(worker: string, count: number): string[] {
  const words: string[] = [];
  for (let i = 0; i < count; i++) words.push(i === 0 ? `${worker} says` : ` word-${i}`);
  return words;
}

function inputsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.map((item) => (typeof item === 'string' ? item : JSON.stringify(item)));
  return [typeof value === 'string' ? value : ''];
}
