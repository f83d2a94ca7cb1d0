import type { StreamFacts } from '../../picker/answer.ts';
import type { SubsetHint } from '../../picker/subset-hint.ts';
import { type Call, type CallHandler, GrpcStatus } from '../../transport/transport.ts';
import { ENVOY_MARK } from '../names.ts';
import { periodicLogMs } from '../pick/envoy-mark.ts';
import { subsetIn } from '../pick/subset-in-metadata.ts';
import type { Incoming, Protocol } from './message.ts';
import type { OutgoingKind } from './outlet.ts';
import { readMessage } from './read-message.ts';
import { RequestSide, type RequestStream } from './request-side.ts';
import { ResponseSide } from './response-side.ts';
import type { ExtProcSettings } from './settings.ts';

/** Of a stream whose first message tells no mode, as Envoys before the field do. */
const NO_PROTOCOL: Protocol = { requestBodyMode: 'none', responseBodyMode: 'none', sendsBodyUnasked: false };

/**
 * One ext_proc stream, which is one HTTP request. Answers each message once, of its kind and in order, and nothing unasked
 * (envoy 1); keeps what comes while a decision is pending.
 */
export class Session implements CallHandler, RequestStream {
  readonly ours: boolean;
  readonly #call: Call;
  readonly #settings: ExtProcSettings;
  readonly #onClosed: (session: Session) => void;
  readonly #periodicLogMs: number;
  readonly #request: RequestSide;
  /** Most streams need neither of them: what a stream takes is multiplied by all that are open. */
  #response: ResponseSide | null = null;
  #waiting: Incoming[] | null = null;
  #protocol: Protocol | null = null;
  /** Whichever message brings it first. */
  #subset: SubsetHint | null = null;
  /** True when no answer may go out any more. */
  #over = false;
  /** By an end with which the request goes on. */
  #endedByUs = false;
  #draining = false;

  constructor(call: Call, settings: ExtProcSettings, onClosed: (session: Session) => void) {
    this.#call = call;
    this.#settings = settings;
    this.#onClosed = onClosed;
    const periodic = periodicLogMs(call.metadata(ENVOY_MARK));
    this.ours = periodic !== null;
    this.#periodicLogMs = periodic ?? 0;
    this.#request = new RequestSide(settings, this);
  }

  get protocol(): Protocol {
    return this.#protocol ?? NO_PROTOCOL;
  }

  get facts(): StreamFacts {
    return {
      periodicLogMs: this.#periodicLogMs,
      endpointPicker: this.protocol.requestBodyMode === 'full_duplex',
      editsBody: true,
      pickId: this.#request.announced,
      subset: this.#subset,
    };
  }

  message(bytes: Buffer): void {
    if (this.#over) return;
    const message = readMessage(bytes);
    if (message === null) {
      this.#unreadable();
      return;
    }
    this.#settings.observer.messageReceived(message.phase);
    this.#protocol ??= message.protocol ?? NO_PROTOCOL;
    if (message.observability) return;
    if (this.#request.deciding) {
      this.#waiting ??= [];
      this.#waiting.push(message);
    } else this.#handle(message);
    if (this.#request.settled && !this.#echoes()) this.#call.release(bytes);
    this.#endIfDone();
  }

  /** Envoy is through with this request. Its stream is waiting for our end (envoy 3.3). */
  halfClosed(): void {
    this.#finish();
    this.#call.end();
  }

  closed(): void {
    this.#finish();
    const pick = this.#request.pick;
    if (pick !== null && !this.#endedByUs && this.#outlivesPick()) this.#settings.picker.streamEnded(pick.pickId);
    this.#onClosed(this);
  }

  /** Ends the stream with OK as soon as Envoy is owed nothing: it then goes on without us (envoy 3.2). */
  drain(): void {
    this.#draining = true;
    this.#endIfDone();
  }

  send(kind: OutgoingKind, bytes: Buffer): void {
    if (this.#over) return;
    this.#settings.observer.answerSent(kind);
    this.#call.send(bytes);
  }

  settled(): void {
    while (!this.#over && !this.#request.deciding) {
      const next = this.#waiting?.shift();
      if (next === undefined) break;
      this.#handle(next);
    }
    this.#endIfDone();
  }

  finished(): void {
    this.#finish();
  }

  #handle(message: Incoming): void {
    this.#subset ??= subsetIn(message.metadata);
    switch (message.phase) {
      case 'request_headers':
        this.#request.headers(message);
        break;
      case 'request_body':
        this.#request.body(message);
        break;
      case 'request_trailers':
        this.#request.trailers();
        break;
      case 'response_headers':
        this.#beginResponse().headers(message, this.ours, this.#request.pick);
        break;
      case 'response_body':
        this.#beginResponse().body(message, this.protocol);
        break;
      case 'response_trailers':
        this.#beginResponse().trailers();
        break;
    }
  }

  #beginResponse(): ResponseSide {
    if (this.#response !== null) return this.#response;
    this.#request.responseBegan();
    this.#response = new ResponseSide(this.#settings, this);
    return this.#response;
  }

  /**
   * What cannot be read cannot be answered in kind. A clean end lets the request pass, also when fail-closed (envoy 3.2); in
   * full duplex it would cut a body silently, so the request has to fail there (envoy 4.6).
   */
  #unreadable(): void {
    this.#settings.observer.messageReceived('unknown');
    this.#settings.observer.passed('protocol_error');
    this.#finish();
    if (this.#echoes()) {
      this.#call.end(GrpcStatus.invalidArgument, 'not a ProcessingRequest');
      return;
    }
    this.#endedByUs = true;
    this.#call.end();
  }

  /** A body that passes through here reaches its goal only as far as it is given back. */
  #echoes(): boolean {
    const { requestBodyMode, responseBodyMode } = this.protocol;
    return requestBodyMode === 'full_duplex' || responseBodyMode === 'full_duplex';
  }

  /**
   * Whether the end of the stream is the end of the request: after a pick by a buffered body, where the response body
   * passes through here, and where nothing better will come: once the response began, and in full duplex, which has no
   * access log behind it (P11). Else the stream ends as soon as it was answered, and its end means nothing (decisions 7).
   */
  #outlivesPick(): boolean {
    if (this.#request.holdsStream || this.protocol.responseBodyMode !== 'none') return true;
    return !this.ours && (this.#response !== null || this.protocol.requestBodyMode === 'full_duplex');
  }

  /** A body that passes through here would be cut by an early end (envoy 4.6). */
  #endIfDone(): void {
    if (this.#over || !(this.#draining || this.#isHeldInVain()) || !this.#owesNothing()) return;
    if (this.#echoes()) return;
    this.#finish();
    this.#endedByUs = true;
    this.#call.end();
  }

  /** Whether Envoy would keep the stream until the response has ended, of which we learn by the access log. */
  #isHeldInVain(): boolean {
    if (!this.#settings.endsHeldStreams || !this.ours || !this.#request.holdsStream) return false;
    return this.protocol.requestBodyMode !== 'streamed' && this.protocol.responseBodyMode === 'none';
  }

  #owesNothing(): boolean {
    return this.#request.settled || (this.#request.fresh && this.#response !== null);
  }

  #finish(): void {
    this.#over = true;
    this.#waiting = null;
    this.#request.closed();
  }
}
