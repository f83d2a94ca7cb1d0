import type { HeaderValueOption } from '../../../src/gen/envoy/config/core/v3/base.ts';
import type {
  CommonResponse,
  HeaderMutation,
  HttpBody,
  HttpHeaders,
  ImmediateResponse,
  ProcessingRequest,
  ProcessingResponse,
} from '../../../src/gen/envoy/service/ext_proc/v3/external_processor.ts';
import { BodyEcho } from './body-echo.ts';
import type { Fault } from './fault.ts';
import type { Fleet } from './fleet.ts';
import { ANYBODY, type Hint, hintIn } from './hint.ts';
import { REWRITES, set, trailersAnswer } from './mutations.ts';
import type { ReferencePickerOptions } from './reference-picker.ts';

const STREAMED = 1;
const BUFFERED = 2;
const PARTIAL = 3;
const FULL_DUPLEX = 4;
const DESTINATION = 'x-gateway-destination-endpoint';
const FORGEABLE = [DESTINATION, `${DESTINATION}-subset`, `${DESTINATION}-served`, `${DESTINATION}-fallback`];
const UNREADY = '198.51.100.1:8000';

/** What a conversation needs of a stream: that part of the server stream of grpc-js. */
export interface PickerCall {
  write(answer: ProcessingResponse): unknown;
  end(): unknown;
  /** Ends the stream with a status. */
  emit(event: 'error', status: { readonly code: number; readonly details: string }): unknown;
  on(event: 'data', hear: (message: ProcessingRequest) => void): unknown;
  on(event: 'end' | 'error' | 'cancelled', hear: () => void): unknown;
}
/** One stream: one HTTP request, from its first message to its end. */
export class Conversation {
  readonly #call: PickerCall;
  readonly #fleet: Fleet;
  readonly #options: ReferencePickerOptions;
  readonly #fault: Fault | null;
  #mode = { request: 0, response: 0 };
  #first = true;
  #headers: ReadonlyMap<string, readonly string[]> = new Map();
  #hasBody = false;
  #hint: Hint | null = null;
  #held: Buffer[] | null = null;
  #awaitsBody = false;
  readonly #bodies: BodyEcho;
  #requestComplete = false;
  #running: string | null = null;
  #preferred: string | null = null;
  #answered = false;
  #over = false;

  constructor(call: PickerCall, fleet: Fleet, options: ReferencePickerOptions) {
    this.#call = call;
    this.#fleet = fleet;
    this.#options = options;
    this.#fault = options.fault ?? null;
    this.#bodies = new BodyEcho(this.#fault, (answer) => this.#send(answer));
    call.on('data', (message: ProcessingRequest) => this.#take(message));
    call.on('end', () => this.#end());
    call.on('error', () => this.#release());
    call.on('cancelled', () => this.#release());
  }

  #is(fault: Fault): boolean {
    return this.#fault === fault;
  }

  #take(message: ProcessingRequest): void {
    const { request, protocolConfig } = message;
    if (this.#over || request === undefined) return;
    const first = this.#first;
    this.#first = false;
    if (first) {
      const { requestBodyMode = 0, responseBodyMode = 0 } = protocolConfig ?? {};
      this.#mode = { request: requestBodyMode, response: responseBodyMode };
    }
    const bare = request.$case === 'requestHeaders' && request.value.endOfStream === true;
    if (first || !this.#is('late subset not read')) this.#hint ??= hintIn(message, bare ? null : this.#fault);
    switch (request.$case) {
      case 'requestHeaders':
        this.#requestHeaders(request.value);
        break;
      case 'requestBody':
        this.#requestBody(request.value);
        break;
      case 'requestTrailers':
        this.#requestTrailers(first);
        break;
      case 'responseHeaders':
        if (first && this.#is('nothing for a stream without a request')) return;
        if (this.#awaitsMore && this.#is('early response unanswered')) return;
        this.#responseHeaders(message);
        break;
      case 'responseBody':
        if (this.#mode.response === FULL_DUPLEX) this.#bodies.pass('response', request.value);
        else this.#send({ response: { $case: 'responseBody', value: {} } });
        break;
      case 'responseTrailers':
        this.#bodies.end('response');
        if (!first && this.#is('response trailers unanswered')) return;
        this.#send({ response: { $case: 'responseTrailers', value: trailersAnswer('response', this.#fault) } });
        break;
    }
  }

  /** The request goes on, and is shown to its end. */
  get #awaitsMore(): boolean {
    return this.#mode.request === FULL_DUPLEX && this.#hasBody && !this.#requestComplete;
  }

  #requestHeaders({ headers, endOfStream = false }: HttpHeaders): void {
    const lines = new Map<string, string[]>();
    for (const { key = '', rawValue } of headers?.headers ?? []) {
      lines.set(key, [...(lines.get(key) ?? []), rawValue?.toString('latin1') ?? '']);
    }
    this.#headers = lines;
    this.#hasBody = !endOfStream;
    this.#requestComplete = endOfStream;
    const path = this.#line(':path') ?? '';
    if (path === '/no/such/path' && this.#is('unknown path refused')) {
      this.#immediate({ status: { code: 404 } });
      return;
    }
    const upgrade = this.#line('upgrade') !== null && !this.#is('upgrade waits for its body');
    const grpc = this.#line('content-type') === 'application/grpc' && !this.#is('gRPC waits for its body');
    const settled = endOfStream || upgrade || grpc || this.#line(':method') === 'CONNECT';
    if (!settled && this.#mode.request === FULL_DUPLEX) {
      this.#held = [];
      return;
    }
    const asks = this.#is('override to BUFFERED') && this.#mode.request === 0;
    const late = this.#mode.request === STREAMED && this.#is('pick by the body in STREAMED');
    if (!settled && (asks || late || this.#mode.request === BUFFERED || this.#mode.request === PARTIAL)) {
      this.#awaitsBody = true;
      const modeOverride = asks ? { modeOverride: { requestHeaderMode: 1, requestBodyMode: BUFFERED } as const } : {};
      this.#send({ response: { $case: 'requestHeaders', value: this.#common(this.#mutation(null)) }, ...modeOverride });
      return;
    }
    this.#decide('requestHeaders', null);
  }

  #requestBody(body: HttpBody): void {
    const bytes = body.body ?? Buffer.alloc(0);
    const ends = body.endOfStream === true;
    if (this.#mode.request === FULL_DUPLEX) {
      if (this.#held === null) {
        this.#requestComplete ||= ends;
        this.#bodies.pass('request', body);
        return;
      }
      this.#held.push(bytes);
      if (ends) this.#decideByHeld(true);
      return;
    }
    this.#requestComplete = ends;
    if (this.#awaitsBody || this.#headers.size === 0) {
      this.#awaitsBody = false;
      this.#decide('requestBody', bytes);
    } else this.#send({ response: { $case: 'requestBody', value: {} } });
  }

  #requestTrailers(first: boolean): void {
    this.#requestComplete = true;
    if (this.#held !== null) this.#decideByHeld(false);
    this.#bodies.end('request');
    if (this.#over || (!first && this.#is('request trailers unanswered'))) return;
    this.#send({ response: { $case: 'requestTrailers', value: trailersAnswer('request', this.#fault) } });
  }

  /** Decides by a whole body and gives it back. */
  #decideByHeld(flagged: boolean): void {
    const whole = Buffer.concat(this.#held ?? []);
    this.#held = null;
    this.#requestComplete = true;
    const early = this.#is('body before the header answer');
    const flag = flagged || this.#is('end flag although trailers follow');
    if (early) this.#bodies.give('request', whole, flag);
    this.#decide('requestHeaders', whole);
    if (!early && !this.#over) this.#bodies.give('request', whole, flag);
    this.#bodies.end('request');
  }

  #decide(answers: 'requestHeaders' | 'requestBody', body: Buffer | null): void {
    if (body !== null && isMalformed(body) && this.#is('malformed body ends the stream')) {
      this.#fail('malformed body');
      return;
    }
    const ignored = !this.#hasBody && this.#is('subset ignored without a body');
    const list = this.#selected() ?? this.#ranked(ignored ? ANYBODY : (this.#hint ?? ANYBODY));
    const [preferred] = list;
    if (preferred === undefined) {
      if (this.#is('no endpoint ends the stream with Internal')) this.#fail('no endpoint');
      else this.#immediate({ status: { code: this.#is('no endpoint answered with 429') ? 429 : 503 } });
      return;
    }
    if (this.#options.overloaded === true) {
      this.#immediate({ status: { code: this.#is('load answered with 503') ? 503 : 429 } });
      return;
    }
    this.#commit(preferred);
    const text = this.#spelled(list).join(',');
    const differs = this.#is('header and metadata differ');
    const wrong = this.#is('header names another endpoint');
    const header = differs || wrong ? (this.#spelled(list).at(wrong ? -1 : 0) ?? '') : text;
    const value = this.#common(this.#mutation(this.#is('no destination header') ? null : header));
    if (answers === 'requestBody' && this.#is('buffered body replaced')) {
      value.response.bodyMutation = { mutation: { $case: 'body', value: body ?? Buffer.alloc(0) } };
    }
    const apart = this.#is('metadata after the headers') && this.#mode.request === FULL_DUPLEX && body !== null;
    const dynamicMetadata = { 'envoy.lb': { [DESTINATION]: text } };
    if (apart) this.#bodies.dress({ dynamicMetadata });
    const duplexOverride = this.#is('override in full duplex') && this.#mode.request === FULL_DUPLEX;
    const answer: ProcessingResponse = {
      response: { $case: answers, value },
      ...(apart || this.#is('no destination metadata') ? {} : { dynamicMetadata }),
      ...(duplexOverride ? { modeOverride: { requestBodyMode: BUFFERED } as const } : {}),
    };
    this.#send(answer);
    if (answers === 'requestHeaders' && this.#is('headers answered twice') && this.#mode.request !== FULL_DUPLEX) {
      this.#send(answer);
    }
    if (this.#is('unasked answer after the request') && this.#mode.request === 0) {
      this.#send({ response: { $case: 'requestBody', value: {} } });
    }
  }

  /** What the test switch chooses; null without it. */
  #selected(): string[] | null {
    const value = this.#line('test-epp-endpoint-selection');
    if (value === null) return null;
    if (this.#is('selection header without the switch')) return [value];
    if (this.#options.testSelection !== true || this.#is('selection header not read')) return null;
    const wanted = value.split(',');
    return wanted.flatMap((part) => this.#fleet.endpoints.filter((it) => it === part || it.startsWith(`${part}:`)));
  }

  #ranked(hint: Hint): string[] {
    const key = this.#is('keys do not stick') ? null : this.#line('x-session-key');
    const other =
      (this.#mode.request === PARTIAL && this.#is('other pick in BUFFERED_PARTIAL')) ||
      (this.#mode.request === STREAMED && this.#is('other pick in STREAMED'));
    const list = this.#fleet.rank(hint, key);
    if (other || this.#is('preferred endpoint last')) list.push(...list.splice(0, 1));
    if (this.#is('list of the whole fleet') && this.#hint === null) {
      list.push(...this.#fleet.endpoints.filter((it) => !list.includes(it)));
    }
    if (this.#is('endpoint twice in the list')) list.push(...list.slice(0, 1));
    if (this.#is('unready endpoint in the list') && this.#hint === null) list.push(UNREADY);
    return list;
  }

  #spelled(list: readonly string[]): readonly string[] {
    if (this.#is('IPv6 written out')) return list.map((it) => it.replace('::', ':0:0:0:0:0:0:'));
    return this.#is('IPv6 without brackets') ? list.map((it) => it.replace(/[[\]]/g, '')) : list;
  }

  #commit(endpoint: string): void {
    this.#fleet.begin(endpoint);
    this.#running = endpoint;
    this.#preferred = endpoint;
    const key = this.#line('x-session-key');
    if (key !== null && !this.#is('pin made by the response only')) this.#fleet.pin(key, endpoint);
  }

  #responseHeaders(message: ProcessingRequest): void {
    const served = this.#served(message);
    this.#answered = true;
    if (served !== null && this.#running !== null && !this.#is('served endpoint ignored')) {
      const key = this.#line('x-session-key');
      if (key !== null) this.#fleet.pin(key, served);
      const attempts: unknown = message.attributes?.['envoy.filters.http.ext_proc']?.['upstream.request_attempt_count'];
      if (served !== this.#running && attempts !== 1) this.#fleet.passedBy(this.#running);
      this.#fleet.answered(served);
      if (!this.#is('served endpoint moves pins only')) {
        this.#fleet.end(this.#running);
        this.#fleet.begin(served);
        this.#running = served;
      }
    }
    const shows = this.#options.testSelection === true && served !== null && !this.#is('served endpoint not shown');
    const headerMutation = shows ? { setHeaders: [set('x-conformance-test-served-endpoint', served)] } : undefined;
    const value = headerMutation === undefined ? {} : { response: { headerMutation } };
    this.#send({ response: { $case: 'responseHeaders', value } });
  }

  #served(message: ProcessingRequest): string | null {
    const metadata: unknown =
      message.metadataContext?.filterMetadata?.['envoy.lb']?.['x-gateway-destination-endpoint-served'];
    const attributes = message.attributes?.['envoy.filters.http.ext_proc'];
    const attribute: unknown = this.#is('served attribute ignored') ? undefined : attributes?.['upstream.address'];
    const told = this.#is('served attribute before metadata') ? (attribute ?? metadata) : (metadata ?? attribute);
    return typeof told === 'string' ? told : this.#preferred;
  }

  #common(headerMutation: HeaderMutation): { response: CommonResponse } {
    return { response: { headerMutation, clearRouteCache: true } };
  }

  /** Takes off what a client may not say, and sets the destination. */
  #mutation(destination: string | null): HeaderMutation {
    const appends = this.#is('destination added to the forged one');
    const removeHeaders = FORGEABLE.filter(
      (name) =>
        !(appends && name === DESTINATION) && !(name.endsWith('-subset') && this.#is('forged subset header stays')),
    );
    const setHeaders: HeaderValueOption[] = [];
    if (destination !== null) setHeaders.push({ ...set(DESTINATION, destination), append: appends });
    if (this.#is('header in value')) setHeaders.push({ header: { key: 'x-picked-by', value: 'reference' } });
    if (this.#is('invalid header name')) setHeaders.push(set('x picked by', 'reference'));
    if (this.#is('content-length set')) setHeaders.push(set('content-length', this.#line('content-length') ?? '0'));
    if (this.#is('all headers written back')) {
      for (const [name, values] of this.#headers) {
        if (!name.startsWith(':') && name !== 'content-length' && !FORGEABLE.includes(name)) {
          setHeaders.push(set(name, values.at(-1) ?? ''));
        }
      }
    }
    for (const [fault, name, value] of REWRITES) if (this.#is(fault)) setHeaders.push(set(name, value));
    if (this.#is('content type removed')) removeHeaders.push('content-type');
    return { setHeaders, removeHeaders };
  }

  #line(name: string): string | null {
    return this.#headers.get(name)?.[0] ?? null;
  }

  #immediate(value: ImmediateResponse): void {
    const length = this.#is('refusal of a wrong length');
    const headers = length ? { headers: { setHeaders: [set('content-length', '5')], removeHeaders: [] } } : {};
    const names = this.#is('refusal with a destination');
    const dynamicMetadata = { 'envoy.lb': { [DESTINATION]: this.#fleet.endpoints[0] ?? '' } };
    this.#send({
      response: { $case: 'immediateResponse', value: { ...value, ...headers } },
      ...(names ? { dynamicMetadata } : {}),
    });
    this.#over = true;
  }

  #send(answer: ProcessingResponse): void {
    if (this.#over) return;
    const late = this.#is('header answer after 250 ms') && this.#mode.request === PARTIAL;
    if (late && answer.response?.$case === 'requestHeaders') setTimeout(() => this.#call.write(answer), 250);
    else this.#call.write(answer);
  }

  #fail(details: string): void {
    this.#over = true;
    this.#call.emit('error', { code: 13, details });
  }

  #end(): void {
    this.#over = true;
    this.#release();
    const marked = this.#mode.request === PARTIAL;
    if (marked && this.#is('stream left open')) return;
    if (marked && this.#is('stream ends with an error')) this.#call.emit('error', { code: 2, details: 'done' });
    else this.#call.end();
  }

  /** The request is over: nothing runs for it any more. */
  #release(): void {
    this.#over = true;
    if (this.#running === null) return;
    if (!this.#answered && this.#is('count kept without a response')) return;
    this.#fleet.end(this.#running);
    this.#running = null;
  }
}

function isMalformed(body: Buffer): boolean {
  if (body[0] !== 0x7b) return false;
  try {
    JSON.parse(body.toString());
    return false;
  } catch {
    return true;
  }
}
