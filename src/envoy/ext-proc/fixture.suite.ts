import {
  type HeaderMutation,
  ProcessingRequest,
  ProcessingResponse,
} from '../../gen/envoy/service/ext_proc/v3/external_processor.ts';
import type { Answer, BodyBytes, BodyPlan, PickAnswer, RefusalAnswer, StreamFacts } from '../../picker/answer.ts';
import type { SeenResponse } from '../../picker/served-feedback.ts';
import type { RequestHead } from '../../request/request-head.ts';
import type { Call } from '../../transport/transport.ts';
import { ExtProc } from './ext-proc.ts';
import { HeldTotal } from './held-total.ts';
import { BODY_MODES, type BodyMode } from './message.ts';
import type { ExtProcObserver } from './observer.ts';
import type { ExtProcOptions } from './settings.ts';
import type { StreamPicker } from './stream-picker.ts';

/** Envoy's side and the picker's side of one stream, for tests: messages go in as bytes, answers are read back as bytes. */

export const READ: BodyPlan = { readBody: true, reason: 'routing_key_override' };
export const HEADERS_DO: BodyPlan = { readBody: false, reason: 'header_only' };

export function pickOf(pickId: string, more: Partial<PickAnswer> = {}): PickAnswer {
  return {
    kind: 'pick',
    pickId,
    destination: '10.0.0.1:8000,10.0.0.2:8000',
    strict: false,
    maxRetries: null,
    rank: null,
    requestId: null,
    decisionHeader: null,
    body: null,
    prefillHeader: null,
    prefillMirror: null,
    ...more,
  };
}

export const REFUSAL: RefusalAnswer = {
  kind: 'refusal',
  status: 404,
  code: 'model_not_found',
  message: `No worker available for model 'x"y'`,
  retryAfterSecs: 10,
  requestId: 'chatcmpl-1',
};

export class FakePicker implements StreamPicker {
  planned: BodyPlan = HEADERS_DO;
  answer: (head: RequestHead, body: BodyBytes | null) => Answer | Promise<Answer> = () => pickOf('p1');
  stampOf: (address: string, rank: number | null) => string | null = (address, rank) =>
    rank === null ? `worker-at-${address}` : `worker-at-${address}@${rank}`;
  readonly asked: { head: RequestHead; body: BodyBytes | null; facts: StreamFacts }[] = [];
  readonly abandoned: string[] = [];
  readonly ended: string[] = [];
  readonly responses: SeenResponse[] = [];

  plan(): BodyPlan {
    return this.planned;
  }

  pick(head: RequestHead, body: BodyBytes | null, facts: StreamFacts): Answer | Promise<Answer> {
    // A picker has done with the bytes when it has answered.
    this.asked.push({ head, body: body && { ...body, bytes: Buffer.from(body.bytes) }, facts });
    return this.answer(head, body);
  }

  reservePickId(): string {
    return 'reserved';
  }

  abandon(pickId: string): void {
    this.abandoned.push(pickId);
  }

  streamEnded(pickId: string): void {
    this.ended.push(pickId);
  }

  responseBegan(response: SeenResponse): void {
    this.responses.push(response);
  }

  stamp(address: string, rank: number | null): string | null {
    return this.stampOf(address, rank);
  }
}

/** Notes each report as `name:argument`. */
export class NotedEvents implements ExtProcObserver {
  readonly notes: string[] = [];

  messageReceived(kind: string): void {
    this.notes.push(`message:${kind}`);
  }
  answerSent(kind: string): void {
    this.notes.push(`answer:${kind}`);
  }
  bodyPath(reason: string): void {
    this.notes.push(`bodyPath:${reason}`);
  }
  bodyRequested(): void {
    this.notes.push('bodyRequested');
  }
  overrideIgnored(): void {
    this.notes.push('overrideIgnored');
  }
  passed(cause: string): void {
    this.notes.push(`passed:${cause}`);
  }
  pickFailed(error: unknown): void {
    this.notes.push(`pickFailed:${error instanceof Error ? error.message : error}`);
  }
  headerLeftOut(name: string): void {
    this.notes.push(`headerLeftOut:${name}`);
  }
}

type Response = NonNullable<ProcessingResponse['response']>;

export class RecordingCall implements Call {
  readonly sent: ProcessingResponse[] = [];
  ended: { status: number; details: string } | null = null;
  readonly #metadata: Readonly<Record<string, string>>;

  constructor(metadata: Readonly<Record<string, string>>) {
    this.#metadata = metadata;
  }

  metadata(name: string): string | undefined {
    return this.#metadata[name];
  }

  send(message: Uint8Array): void {
    if (this.ended !== null) throw new Error('sent after the end');
    this.sent.push(ProcessingResponse.decode(message));
  }

  /** As the next message would. */
  release(message: Buffer): void {
    message.fill(0xff);
  }

  end(status = 0, details = ''): void {
    this.ended ??= { status, details };
  }

  /** Of the answers; a wish for more time is none. */
  get kinds(): Response['$case'][] {
    return this.sent.flatMap((answer) => (answer.response === undefined ? [] : [answer.response.$case]));
  }
}

export interface Modes {
  readonly request?: BodyMode;
  readonly response?: BodyMode;
  readonly sendsUnasked?: boolean;
}

const POST = { ':method': 'POST', ':path': '/v1/chat/completions', 'content-type': 'application/json' };

/** One stream of an Envoy in given modes against a fake picker. */
export class Stream {
  readonly picker = new FakePicker();
  readonly observer = new NotedEvents();
  readonly call: RecordingCall;
  readonly method: ExtProc;
  readonly #handler;
  readonly #modes: Modes;
  #first = true;

  constructor(modes: Modes = {}, options: Partial<ExtProcOptions> = {}, metadata: Record<string, string> = {}) {
    this.#modes = modes;
    this.call = new RecordingCall(metadata);
    this.method = new ExtProc({
      picker: this.picker,
      observer: this.observer,
      destinationHeader: 'auto',
      testEndpointSelection: false,
      decisionTimeoutMs: 250,
      collectLimitBytes: 1 << 26,
      held: new HeldTotal(1 << 28),
      endsHeldStreams: false,
      ...options,
    });
    this.#handler = this.method.open(this.call);
  }

  /** Sends a message and answers with what was sent back for it. */
  receive(message: ProcessingRequest): ProcessingResponse[] {
    const before = this.call.sent.length;
    const protocolConfig = this.#first
      ? {
          requestBodyMode: wire(this.#modes.request),
          responseBodyMode: wire(this.#modes.response),
          sendBodyWithoutWaitingForHeaderResponse: this.#modes.sendsUnasked ?? false,
        }
      : undefined;
    this.#first = false;
    const bytes = ProcessingRequest.encode({ protocolConfig, ...message }).finish();
    this.#handler.message(Buffer.from(bytes));
    return this.call.sent.slice(before);
  }

  raw(bytes: Buffer): void {
    this.#handler.message(bytes);
  }

  requestHeaders(headers: Record<string, string> = {}, endOfStream = false): ProcessingResponse[] {
    return this.receive({
      request: { $case: 'requestHeaders', value: httpHeaders({ ...POST, ...headers }, endOfStream) },
    });
  }

  requestBody(body: string | Buffer, endOfStream = true): ProcessingResponse[] {
    return this.receive({ request: { $case: 'requestBody', value: { body: Buffer.from(body), endOfStream } } });
  }

  requestTrailers(): ProcessingResponse[] {
    return this.receive({ request: { $case: 'requestTrailers', value: {} } });
  }

  responseHeaders(more: Partial<ProcessingRequest> = {}, status = '200'): ProcessingResponse[] {
    return this.receive({
      request: { $case: 'responseHeaders', value: httpHeaders({ ':status': status }, false) },
      ...more,
    });
  }

  responseBody(body: string | Buffer, endOfStream = true): ProcessingResponse[] {
    return this.receive({ request: { $case: 'responseBody', value: { body: Buffer.from(body), endOfStream } } });
  }

  responseTrailers(): ProcessingResponse[] {
    return this.receive({ request: { $case: 'responseTrailers', value: {} } });
  }

  halfClose(): void {
    this.#handler.halfClosed();
  }

  close(): void {
    this.#handler.closed();
  }
}

function wire(mode: BodyMode | undefined): 0 | 1 | 2 | 3 | 4 | 5 {
  return BODY_MODES.indexOf(mode ?? 'none') as 0 | 1 | 2 | 3 | 4 | 5;
}

export function httpHeaders(headers: Record<string, string>, endOfStream: boolean) {
  const entries = Object.entries(headers).map(([key, value]) => ({ key, rawValue: Buffer.from(value, 'latin1') }));
  return { headers: { headers: entries }, endOfStream };
}

/** Header changes of an answer: set headers as text, and removed names. */
export function changesIn(answer: ProcessingResponse | undefined): { set: Record<string, string>; remove: string[] } {
  const response = answer?.response;
  let mutation: HeaderMutation | undefined;
  if (response?.$case === 'immediateResponse') mutation = response.value.headers;
  else if (response?.$case === 'requestTrailers' || response?.$case === 'responseTrailers')
    mutation = response.value.headerMutation;
  else mutation = response?.value.response?.headerMutation;
  const set: Record<string, string> = {};
  for (const option of mutation?.setHeaders ?? []) {
    if (option.header?.value) throw new Error('value is never read by Envoy');
    if (option.append) throw new Error('append is not an overwrite');
    set[option.header?.key ?? ''] = String(option.header?.rawValue);
  }
  return { set, remove: mutation?.removeHeaders ?? [] };
}

/** The echoed pieces among some answers. */
export function chunksIn(answers: readonly ProcessingResponse[]): { body: Buffer; endOfStream: boolean }[] {
  const chunks = [];
  for (const { response } of answers) {
    if (response?.$case !== 'requestBody' && response?.$case !== 'responseBody') continue;
    const mutation = response.value.response?.bodyMutation?.mutation;
    if (mutation?.$case !== 'streamedResponse') throw new Error('a plain body answer');
    chunks.push({ body: mutation.value.body ?? Buffer.alloc(0), endOfStream: mutation.value.endOfStream === true });
  }
  return chunks;
}
