/** Which engine a worker is, asked the way SMG 1.11.0 is seen to ask. */
import { SERVER_INFO_PATHS } from './dp-size.ts';
import { type HttpResult, isOk } from './http-request.ts';
import type { EngineKind } from './leg-facts.ts';
import { MODELS_PATH } from './model-probe.ts';

const VERSION_PATH = '/version';

/** Asks one path of a worker. */
export type AskEngine = (path: string) => Promise<HttpResult>;

/**
 * Whose models an engine lists tells it; else vLLM answers `/version` and SGLang its server info. Null when it could not
 * be asked. Never rejects.
 *
 * @param declared name of the engine as the operator gave it, in lower case; null to find it out
 */
export async function askEngine(ask: AskEngine, declared: string | null): Promise<EngineKind | null> {
  const runtime = declared ?? (await ownerOf(ask));
  if (runtime === UNREACHABLE) return null;
  if (runtime !== null && !KNOWN.has(runtime)) return { runtime, version: null };

  if (runtime !== 'sglang') {
    const answer = await ask(VERSION_PATH);
    if (answer.kind === 'failed') return null;
    const version = versionIn(answer);
    if (runtime === 'vllm' || version !== null) return { runtime: 'vllm', version };
  }
  for (const path of SERVER_INFO_PATHS) {
    const answer = await ask(path);
    if (answer.kind === 'failed') return null;
    if (objectIn(answer) !== null) return { runtime: 'sglang', version: versionIn(answer) };
  }
  return { runtime: runtime ?? 'generic', version: null };
}

const KNOWN: ReadonlySet<string> = new Set(['vllm', 'sglang']);
/** No name of an engine. */
const UNREACHABLE = '';

/** The engine that lists its models in its own name; null where it is no engine known here. */
async function ownerOf(ask: AskEngine): Promise<string | null> {
  const answer = await ask(MODELS_PATH);
  if (answer.kind === 'failed') return UNREACHABLE;
  const data = objectIn(answer)?.['data'];
  const first: unknown = Array.isArray(data) ? data[0] : null;
  const owner = typeof first === 'object' && first !== null && 'owned_by' in first ? first.owned_by : null;
  return typeof owner === 'string' && KNOWN.has(owner) ? owner : null;
}

function versionIn(answer: HttpResult): string | null {
  const version = objectIn(answer)?.['version'];
  return typeof version === 'string' && version !== '' ? version : null;
}

function objectIn(answer: HttpResult): Readonly<Record<string, unknown>> | null {
  if (answer.kind !== 'answer' || !isOk(answer.status) || !answer.complete) return null;
  try {
    const value: unknown = JSON.parse(answer.body.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>) // of what it is made is looked at where it is read
      : null;
  } catch {
    return null;
  }
}
