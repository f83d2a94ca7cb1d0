import type { HttpResult } from './http-request.ts';

export const MODELS_PATH = '/v1/models';
/** How long a worker may take to tell its models (decisions 17). */
export const MODELS_TIMEOUT_MS = 2_000;
export const MODELS_MAX_BYTES = 1_048_576;

/** `any`: it has no list that can be read, so it serves any model. `unreachable`: it could not be asked. */
export type ModelsAnswer =
  | { readonly kind: 'list'; readonly models: readonly string[] }
  | { readonly kind: 'any' }
  | { readonly kind: 'unreachable' };

/** Reads what a worker answered to the question for its models: all ids, in its own order (decisions 18, 37). */
export function readModels(result: HttpResult): ModelsAnswer {
  if (result.kind === 'failed') return { kind: 'unreachable' };
  if (result.kind === 'timeout' || result.status !== 200 || !result.complete) return { kind: 'any' };
  const models = modelIds(result.body.toString('utf8'));
  return models.length === 0 ? { kind: 'any' } : { kind: 'list', models };
}

function modelIds(text: string): readonly string[] {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    return [];
  }
  if (!isObject(answer) || !Array.isArray(answer['data'])) return [];
  const ids = new Set<string>();
  for (const model of answer['data'] as readonly unknown[]) {
    if (!isObject(model)) continue;
    const id = model['id'];
    if (typeof id === 'string' && id !== '') ids.add(id);
  }
  return [...ids];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
