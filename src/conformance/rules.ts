import type { HeaderValueOption } from '../gen/envoy/config/core/v3/base.ts';
import type { AnswerKind, Entry } from './message.ts';
import { commonOf, mutationsOf, type Outcome } from './outcome.ts';
import type { Header } from './plan.ts';

/** Looks at one transcript; each text is a breach, in words. */
export type Rule = (outcome: Outcome) => readonly string[];

const OK = 0;
const LARGEST_PIECE = 65_536;

/** One answer for each message, of its kind and in order, nothing unasked (envoy 1.1). Trailers are left to P7. */
export const answersOnce: Rule = (outcome) => [...order(outcome), ...missing(outcome)];

function order({ entries, plan }: Outcome): string[] {
  const breaches: string[] = [];
  const owed = { request: [] as AnswerKind[], response: [] as AnswerKind[] };
  const ended = new Set<string>();
  let refused = false;
  for (const entry of entries) {
    if (entry.from === 'us') {
      const side = entry.kind.startsWith('request') ? 'request' : 'response';
      if (!isPiece(entry.kind, outcomeMode(plan.mode, side))) owed[side].push(entry.kind);
      continue;
    }
    const { kind, message } = entry;
    if (refused) breaches.push(`${kind ?? 'an empty message'} after the immediate response`);
    else if (kind === 'immediateResponse') refused = true;
    else if (kind === null) {
      const says = message.modeOverride !== undefined || message.overrideMessageTimeout !== undefined;
      if (!says) breaches.push('a message without an answer in it');
    } else {
      const side = kind.startsWith('request') ? 'request' : 'response';
      if (isPiece(kind, outcomeMode(plan.mode, side))) {
        if (owed[side].includes(side === 'request' ? 'requestHeaders' : 'responseHeaders')) {
          breaches.push(`${kind} before the answer to the headers`);
        }
        if (ended.has(kind)) breaches.push(`${kind} after its end`);
        const mutation = commonOf(message.response)?.bodyMutation?.mutation;
        if (mutation?.$case === 'streamedResponse' && mutation.value.endOfStream === true) ended.add(kind);
      } else if (owed[side][0] === kind) {
        owed[side].shift();
        if (kind.endsWith('Trailers')) ended.add(`${side}Body`);
      } else breaches.push(`${kind} while ${owed[side][0] ?? 'nothing'} was owed`);
    }
  }
  return breaches;
}

function outcomeMode(mode: Outcome['plan']['mode'], side: 'request' | 'response'): string {
  return side === 'request' ? mode.request : mode.response;
}

/** In full duplex body messages and their answers need not match one by one. */
function isPiece(kind: AnswerKind, mode: string): boolean {
  return mode === 'full_duplex' && kind.endsWith('Body');
}

function missing({ entries, refusal, end, plan }: Outcome): string[] {
  if (refusal !== null || (end !== null && end.code !== OK && plan.close === 'graceful')) return [];
  const kinds = ['requestHeaders', 'requestBody', 'responseHeaders', 'responseBody'] as const;
  return kinds.flatMap((kind) => {
    const count = (from: Entry['from']): number =>
      entries.filter((entry) => entry.from === from && entry.kind === kind).length;
    const side = kind.startsWith('request') ? 'request' : 'response';
    if (isPiece(kind, outcomeMode(plan.mode, side)) || count('picker') >= count('us')) return [];
    return [`${count('us')} ${kind} sent, ${count('picker')} answered`];
  });
}

/** The stream ends with OK, soon after Envoy has half-closed it (envoy 1.9, 1.10). */
export const endsWell: Rule = ({ end, plan }) => {
  if (end === null) return ['no end of the stream after the half-close'];
  if (end.code === OK || plan.close === 'reset') return [];
  return [`gRPC status ${end.code} (${end.details || 'no details'})`];
};

const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
const FORBIDDEN_VALUE = /[\r\n\0]/;
/** Envoy's limits for one answer (envoy 5.1). */
const MOST_HEADERS = 100;
const MOST_BYTES = 60 * 1024;

/** Header changes that Envoy can apply: raw values, valid names, within its limits (envoy 5.1). */
export const headersApply: Rule = ({ answers }) => {
  const mutations = [...mutationsOf(answers, 'request'), ...mutationsOf(answers, 'response')];
  return mutations.flatMap(({ setHeaders = [], removeHeaders = [] }) => {
    const bytes = setHeaders.reduce((sum, { header }) => sum + lengthOf(header), 0);
    return [
      ...setHeaders.flatMap(headerBreaches),
      ...(setHeaders.length + removeHeaders.length > MOST_HEADERS
        ? [`${setHeaders.length + removeHeaders.length} changes in one answer; Envoy takes ${MOST_HEADERS}`]
        : []),
      ...(bytes > MOST_BYTES ? [`${bytes} bytes of headers in one answer; Envoy takes ${MOST_BYTES}`] : []),
    ];
  });
};

function headerBreaches({ header }: HeaderValueOption): string[] {
  const name = header?.key ?? '';
  const raw = header?.rawValue?.toString('latin1') ?? '';
  const breaches: string[] = [];
  if (raw === '' && (header?.value ?? '') !== '') breaches.push(`${name}: in value; Envoy reads raw_value only`);
  const pseudo = name.startsWith(':');
  if (!NAME.test((pseudo ? name.slice(1) : name).toLowerCase())) {
    breaches.push(`${JSON.stringify(name)} is no header name; Envoy answers 500`);
  }
  if (FORBIDDEN_VALUE.test(raw)) breaches.push(`${name}: a value with CR, LF or NUL; Envoy answers 500`);
  return breaches;
}

function lengthOf(header: HeaderValueOption['header']): number {
  return (header?.key?.length ?? 0) + Math.max(header?.rawValue?.length ?? 0, header?.value?.length ?? 0);
}

/** Where and how a request goes: a new line is as wrong as a changed one. */
const FRAMING = ['content-length', 'content-type', 'content-encoding', 'transfer-encoding', 'host'];

/**
 * Every line that came with the request reaches the worker as it was (envoy 1.13, 5.1), those in `except` apart. Lines of the
 * picker's own may join them. Who sets what was there changes nothing.
 */
export const keepsRequest =
  (except: readonly string[]): Rule =>
  ({ forwarded, plan, refusal }) => {
    if (refusal !== null) return [];
    const names = new Set([...FRAMING, ...plan.headers.map(([name]) => name)]);
    for (const name of except) names.delete(name);
    return [...names].flatMap((name) => {
      const values = (lines: readonly Header[]): string =>
        lines.flatMap(([other, value]) => (other === name ? [value] : [])).join(' | ');
      const [sent, left] = [values(plan.headers), values(forwarded)];
      return sent === left ? [] : [`${name}: "${sent}" reaches the worker as "${left}"`];
    });
  };

/** Streamed pieces of at most 64 KiB in full duplex, nothing but CONTINUE elsewhere (endpoint-picker-protocol 1, envoy 4.6). */
export const bodyForm: Rule = ({ answers, plan }) =>
  answers.flatMap(({ kind, message }) => {
    const common = commonOf(message.response);
    const breaches = common?.status === 1 ? [`${kind}: status CONTINUE_AND_REPLACE`] : [];
    const mutation = common?.bodyMutation?.mutation;
    if (kind !== 'requestBody' && kind !== 'responseBody') {
      return mutation === undefined ? breaches : [...breaches, `${kind}: a body mutation`];
    }
    const mode = kind === 'requestBody' ? plan.mode.request : plan.mode.response;
    if (mode !== 'full_duplex')
      return mutation === undefined ? breaches : [...breaches, `${kind}: the body is replaced`];
    if (mutation?.$case !== 'streamedResponse') {
      return [...breaches, `${kind}: ${mutation?.$case ?? 'no body'} where full duplex wants a streamed piece`];
    }
    const size = mutation.value.body?.length ?? 0;
    return size > LARGEST_PIECE ? [...breaches, `${kind}: a piece of ${size} bytes`] : breaches;
  });

const MODE_NAMES = ['NONE', 'STREAMED', 'BUFFERED', 'BUFFERED_PARTIAL', 'FULL_DUPLEX_STREAMED', 'GRPC'];

/** A mode is asked for where Envoy hears it, and never one that hangs (envoy 4.2, 4.3). */
export const overrides: Rule = ({ answers, plan }) =>
  answers.flatMap(({ kind, message }) => {
    const asked = message.modeOverride;
    if (asked === undefined) return [];
    if (plan.mode.request === 'full_duplex') return ['mode_override in full duplex: Envoy does not hear it'];
    if (kind !== 'requestHeaders' && kind !== 'responseHeaders') {
      return [`mode_override in ${kind ?? 'a message of its own'}: Envoy hears it in answers to headers only`];
    }
    const mode = asked.requestBodyMode ?? 0;
    if (plan.body === null && mode !== 0) return ['a body is asked for though none follows'];
    if (mode === 2 || mode === 4) return [`mode_override to ${MODE_NAMES[mode]}: can hang or cut a request`];
    return [];
  });
