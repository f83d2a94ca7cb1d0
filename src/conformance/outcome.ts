import type {
  CommonResponse,
  HeaderMutation,
  ProcessingResponse,
} from '../gen/envoy/service/ext_proc/v3/external_processor.ts';
import { canonical } from './endpoint.ts';
import { type AnswerKind, type Entry, member, type Received, type StreamEnd } from './message.ts';
import { DESTINATION, LB_NAMESPACE } from './names.ts';
import { type Header, type Plan, TRAILERS } from './plan.ts';

/** What the picker said on a destination in time, as it said it; null for "not at all". */
export interface Destination {
  readonly header: string | null;
  /** Not a string when the picker wrote another type. */
  readonly metadata: unknown;
}

/** Wire value of the mode. */
const STREAMED = 1;

export interface Refusal {
  readonly status: number;
  readonly message: ProcessingResponse;
}

/** What came of one plan: the transcript, and what a data plane would do by it. */
export class Outcome {
  readonly plan: Plan;
  readonly entries: readonly Entry[];
  /** Null when the picker did not end the stream in time. */
  readonly end: StreamEnd | null;
  /** Whether an answer was owed and did not come in time. */
  readonly silent: boolean;

  constructor(plan: Plan, entries: readonly Entry[], end: StreamEnd | null, silent: boolean) {
    this.plan = plan;
    this.entries = entries;
    this.end = end;
    this.silent = silent;
  }

  get title(): string {
    return this.plan.title;
  }

  get answers(): readonly Received[] {
    return this.entries.filter((entry) => entry.from === 'picker');
  }

  /** Null when the request was not refused. */
  get refusal(): Refusal | null {
    for (const { message } of this.answers) {
      const response = message.response;
      if (response?.$case !== 'immediateResponse') continue;
      // Envoy reads an absent status as 200 (envoy 10.2).
      return { status: response.value.status?.code || 200, message };
    }
    return null;
  }

  get destination(): Destination {
    return destinationIn(this.answers.filter(({ kind }) => kind === 'requestHeaders' || this.#comesInTime(kind)));
  }

  /** In the other modes the request is on its way once its headers are answered (envoy 4.1). */
  #comesInTime(kind: AnswerKind | null): boolean {
    const { request } = this.plan.mode;
    if (kind !== 'requestBody' || request === 'streamed' || request === 'full_duplex') return false;
    return !this.answers.some(({ message }) => message.modeOverride?.requestBodyMode === STREAMED);
  }

  /** The destination list as it is spelled; empty when there is none. Where header and metadata differ, the metadata. */
  get named(): readonly string[] {
    const { header, metadata } = this.destination;
    const list = typeof metadata === 'string' && metadata !== '' ? metadata : header;
    if (list === null || this.refusal !== null) return [];
    return list
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
  }

  /** The destination list in the usual spelling. */
  get picks(): readonly string[] {
    return this.named.map(canonical);
  }

  /** The endpoint that a data plane would use. */
  get first(): string | null {
    return this.picks[0] ?? null;
  }

  /** Header lines of the request as the worker gets them (envoy 5.1). */
  get forwarded(): readonly Header[] {
    return apply(this.plan.headers, mutationsOf(this.answers, 'request'));
  }

  /** Header lines of the response as the client gets them. */
  get answeredHeaders(): readonly Header[] {
    return apply(this.plan.response?.headers ?? [], mutationsOf(this.answers, 'response'));
  }

  /** Trailers as they go on (envoy 4.6). */
  trailersAfter(of: 'requestTrailers' | 'responseTrailers'): readonly Header[] {
    const mutations = this.answers.flatMap(({ message: { response } }) => {
      if (response?.$case !== 'requestTrailers' && response?.$case !== 'responseTrailers') return [];
      const mutation = response.$case === of ? response.value.headerMutation : undefined;
      return mutation === undefined ? [] : [mutation];
    });
    return apply(TRAILERS, mutations);
  }

  /**
   * The longest that an answer took after the message before it, in ms; 0 without one. Who has asked for more time has it
   * (envoy 10.5).
   */
  get slowest(): number {
    let slowest = 0;
    let since: number | null = null;
    for (const entry of this.entries) {
      if (entry.from === 'us') since = entry.at;
      else if (entry.message.overrideMessageTimeout !== undefined) since = null;
      else if (since !== null) slowest = Math.max(slowest, entry.at - since);
    }
    return slowest;
  }

  /** The streamed body that came back, in pieces. */
  echo(of: 'request' | 'response'): readonly { readonly bytes: Buffer; readonly endOfStream: boolean }[] {
    const wanted = of === 'request' ? 'requestBody' : 'responseBody';
    return this.answers.flatMap(({ kind, message }) => {
      const mutation = kind === wanted ? commonOf(message.response)?.bodyMutation?.mutation : undefined;
      if (mutation?.$case !== 'streamedResponse') return [];
      return [{ bytes: mutation.value.body ?? Buffer.alloc(0), endOfStream: mutation.value.endOfStream === true }];
    });
  }

  /** In a few words, for findings. */
  get summary(): string {
    const refusal = this.refusal;
    if (refusal !== null) return `immediate response ${refusal.status}`;
    const end = this.end;
    if (end !== null && end.code !== 0 && this.plan.close === 'graceful') {
      return `the stream ended with gRPC status ${end.code} (${end.details || 'no details'})`;
    }
    if (this.first !== null) return `pick ${this.picks.join(',')}`;
    const late = this.answers.find((answer) => saysSomething(destinationIn([answer])));
    if (late !== undefined) return `a pick that comes too late, with ${late.kind ?? 'an empty message'}`;
    const kinds = this.answers.map(({ kind }) => kind ?? 'empty').join(', ');
    if (this.silent) return kinds === '' ? 'no answer in time' : `no pick in time, only ${kinds}`;
    return kinds === '' ? 'the stream ended without an answer' : `no pick; answers: ${kinds}`;
  }
}

/** What those answers say on a destination, in time or not. */
export function destinationIn(answers: readonly Received[]): Destination {
  let metadata: unknown = null;
  for (const { message } of answers) {
    metadata = member(member(message.dynamicMetadata, LB_NAMESPACE), DESTINATION) ?? metadata;
  }
  const header = mutationsOf(answers, 'request')
    .flatMap((mutation) => mutation.setHeaders ?? [])
    .findLast((option) => option.header?.key?.toLowerCase() === DESTINATION)?.header;
  return { header: header === undefined ? null : headerText(header), metadata };
}

export function saysSomething({ header, metadata }: Destination): boolean {
  return header !== null || metadata !== null;
}

/** Text of a header value by either reader; only `raw_value` counts for Envoy (check E3). */
export function headerText(header: {
  readonly value?: string | undefined;
  readonly rawValue?: Buffer | undefined;
}): string {
  const raw = header.rawValue?.toString('latin1') ?? '';
  return raw === '' ? (header.value ?? '') : raw;
}

/** Header mutations of all answers of one direction, in order. */
export function mutationsOf(answers: readonly Received[], of: 'request' | 'response'): readonly HeaderMutation[] {
  return answers.flatMap(({ kind, message: { response } }) => {
    if (kind?.startsWith(of) !== true) return [];
    const mutation = commonOf(response)?.headerMutation;
    return mutation === undefined ? [] : [mutation];
  });
}

/** What answers to headers and bodies have in common; undefined where they say nothing, and for other kinds. */
export function commonOf(response: ProcessingResponse['response']): CommonResponse | undefined {
  switch (response?.$case) {
    case 'requestHeaders':
    case 'responseHeaders':
    case 'requestBody':
    case 'responseBody':
      return response.value.response;
    default:
      return undefined;
  }
}

/** Removals first, then the set values; unset `append` overwrites (envoy 5.1). */
function apply(headers: readonly Header[], mutations: readonly HeaderMutation[]): readonly Header[] {
  let lines: Header[] = [...headers];
  for (const mutation of mutations) {
    const gone = new Set(mutation.removeHeaders?.map((name) => name.toLowerCase()));
    lines = lines.filter(([name]) => !gone.has(name));
    for (const { header, append } of mutation.setHeaders ?? []) {
      const name = header?.key?.toLowerCase() ?? '';
      if (append !== true) lines = lines.filter(([other]) => other !== name);
      if (header !== undefined) lines.push([name, headerText(header)]);
    }
  }
  return lines;
}
