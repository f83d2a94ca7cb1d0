import type { BodyBytes, FinalAnswer, PickAnswer, StreamFacts } from '../../picker/answer.ts';
import { bodyKindOf } from '../../request/body-kind.ts';
import type { RequestHead } from '../../request/request-head.ts';
import { DESTINATION_KEY, MORE_TIME_MARGIN_SECS } from '../names.ts';
import { type AnswerTaker, Decider } from '../pick/decider.ts';
import type { HeadView } from '../pick/head-view.ts';
import { changesOfPick, type HeaderChanges, removals } from '../pick/header-changes.ts';
import type { PickMetadata } from '../pick/pick-metadata.ts';
import { immediateOf } from '../pick/refusal.ts';
import { AttributeHead } from './attribute-head.ts';
import { canGiveBody } from './body-reach.ts';
import { askingForEcho } from './conformance-headers.ts';
import { Echo } from './echo.ts';
import { HeldBody } from './held-body.ts';
import type { Incoming, Phase, Protocol } from './message.ts';
import type { Outlet } from './outlet.ts';
import { choosing, mayEndWithTrailers, type RouteChoice } from './send-once.ts';
import type { ExtProcSettings } from './settings.ts';
import { CONTINUE, writeAnswer, writeImmediate, writeMoreTime } from './write-answer.ts';

/**
 * - `fresh`: nothing of the request has come.
 * - `awaiting`: the headers are answered, the decision waits for the body message.
 * - `collecting`: full duplex, the header answer is held back until the body is complete.
 * - `deciding`: the picker was asked.
 * - `settled`: decided, or nothing to decide.
 */
type Stage = 'fresh' | 'awaiting' | 'collecting' | 'deciding' | 'settled';

/** What the request side needs of its stream. */
export interface RequestStream extends Outlet {
  readonly protocol: Protocol;
  readonly facts: StreamFacts;
  /** True when the Envoy was configured by us (`x-smg-envoy`). */
  readonly ours: boolean;
  /** A decision has been answered: messages that waited may go on. */
  settled(): void;
  /** An immediate response went out: Envoy expects nothing more. */
  finished(): void;
}

const EMPTY = Buffer.alloc(0);

/** False where waiting for the body could take for ever (decisions 20). */
function mayAskFor(head: RequestHead): boolean {
  const kind = bodyKindOf(head);
  return kind !== 'none' && kind !== 'tunnel';
}

/** The request's direction of one stream: decides once, in the phase that the mode allows (envoy 4.7). */
export class RequestSide implements AnswerTaker {
  readonly #settings: ExtProcSettings;
  readonly #stream: RequestStream;
  readonly #decider: Decider;
  #stage: Stage = 'fresh';
  /** Message that the decision answers. */
  #decidesIn: Phase = 'request_headers';
  #head: HeadView | null = null;
  #askedForBody = false;
  #announced: string | null = null;
  /** In full duplex only. */
  #held: HeldBody | null = null;
  #echo: Echo | null = null;
  /** The end of the body has come, as a flag or as trailers. */
  #bodyEnded = false;
  #trailersOwed = false;
  /** Of a request on a route of our own configuration. */
  #mayEndWithTrailers = false;
  #pick: PickAnswer | null = null;
  #pickedByBody = false;

  constructor(settings: ExtProcSettings, stream: RequestStream) {
    this.#settings = settings;
    this.#stream = stream;
    this.#decider = new Decider(settings.picker, settings.observer, settings.decisionTimeoutMs, this);
  }

  /** True while the picker is asked: messages of the stream have to wait. */
  get deciding(): boolean {
    return this.#decider.pending;
  }

  /** True when nothing of the request is owed to Envoy. */
  get settled(): boolean {
    return this.#stage === 'settled';
  }

  /** True when no message of the request has come. */
  get fresh(): boolean {
    return this.#stage === 'fresh';
  }

  get pick(): PickAnswer | null {
    return this.#pick;
  }

  /** Id of the pick that Envoy was told with the answer to the headers, null where it was told none. */
  get announced(): string | null {
    return this.#announced;
  }

  /** Envoy keeps the stream of a pick by a buffered body until the response has ended (envoy 3.2). */
  get holdsStream(): boolean {
    return this.#pickedByBody && this.#stream.protocol.requestBodyMode !== 'full_duplex';
  }

  headers(message: Incoming): void {
    const head = message.head;
    if (this.#stage !== 'fresh' || head === null) {
      this.#stream.send('request_headers', CONTINUE.request_headers);
      return;
    }
    this.#head = head;
    const mode = this.#stream.protocol.requestBodyMode;
    const wantsBody = this.#wantsBody(head);
    if (this.#stream.ours && (wantsBody || mode !== 'none')) {
      this.#mayEndWithTrailers = mayEndWithTrailers(head, message.attributes);
    }
    if (!wantsBody) this.#decide('request_headers', head, null);
    else if (mode === 'full_duplex') this.#stage = 'collecting';
    else this.#awaitBody(head, mode === 'none');
  }

  body(message: Incoming): void {
    if (this.#stream.protocol.requestBodyMode === 'full_duplex') this.#streamedBody(message);
    else if (this.#stage === 'awaiting')
      this.#decideByBody(this.#head ?? new AttributeHead(message.attributes), message);
    else if (this.#stage === 'fresh') this.#bodyWithoutHeaders(message);
    else this.#continueBody(message);
  }

  trailers(): void {
    if (this.#stage === 'collecting') {
      this.#bodyEnded = true;
      this.#trailersOwed = true;
      this.#decideByCollected();
    } else if (this.#stage === 'awaiting' && this.#head !== null) {
      // A request of headers and trailers only: the answer to the trailers is the last one in time.
      this.#decide('request_trailers', this.#head, { bytes: EMPTY, complete: true });
    } else {
      this.#bodyEnded = true;
      if (this.#stage === 'fresh') this.#stage = 'settled';
      this.#stream.send('request_trailers', CONTINUE.request_trailers);
    }
  }

  /** The response began. If a body is still awaited by then, Envoy did not grant it. */
  responseBegan(): void {
    this.#countIgnoredOverride();
  }

  /** The stream is over. */
  closed(): void {
    this.#decider.cancel();
    this.#countIgnoredOverride();
    this.#held?.take();
  }

  /** No message times out in full duplex, where Envoy would not expect the word either (envoy 10.5). */
  deferred(timeoutMs: number): void {
    if (this.#stream.protocol.requestBodyMode === 'full_duplex') return;
    this.#stream.send('more_time', writeMoreTime(timeoutMs + MORE_TIME_MARGIN_SECS * 1000));
  }

  answered(answer: FinalAnswer): void {
    this.#stage = 'settled';
    if (answer.kind === 'refusal') {
      this.#held?.take();
      this.#stream.send('immediate_response', writeImmediate(immediateOf(answer, this.#settings.observer)));
      this.#stream.finished();
      return;
    }
    this.#pick = answer.kind === 'pick' ? answer : null;
    this.#reply(this.#pick);
    this.#release();
    // It lies in the bytes of its message, which would stay in memory as long as a stream that Envoy holds.
    this.#head = null;
    this.#stream.settled();
  }

  /** Whether the decision waits for the body, as far as the mode can give it. */
  #wantsBody(head: HeadView): boolean {
    const { protocol } = this.#stream;
    const plan = this.#decider.plan(head);
    const wanted = plan.readBody && mayAskFor(head);
    const granted = wanted && canGiveBody(protocol);
    this.#settings.observer.bodyPath(wanted && !granted ? 'mode_cannot_grant' : plan.reason);
    return granted;
  }

  /**
   * The body comes next: by its static mode, or because the answer asks for it. A client may leave while the pick is on its
   * way to Envoy, whose log names only what it has been told: hence the id goes ahead.
   */
  #awaitBody(head: HeadView, ask: boolean): void {
    this.#stage = 'awaiting';
    this.#askedForBody = ask;
    if (ask) this.#settings.observer.bodyRequested();
    if (this.#stream.ours) this.#announced = this.#settings.picker.reservePickId();
    this.#send('request_headers', removals(head, this.#settings.controlHeaders), null, ask, null);
  }

  /**
   * The mode sends bodies only. Envoy has chosen the worker and sent the headers by then: neither the pick nor header
   * changes have an effect, but the request is counted and its pin follows the worker that served.
   */
  #bodyWithoutHeaders(message: Incoming): void {
    const head = new AttributeHead(message.attributes);
    this.#settings.observer.bodyPath(this.#decider.plan(head).reason);
    this.#decideByBody(head, message);
  }

  #decideByBody(head: RequestHead, message: Incoming): void {
    this.#askedForBody = false;
    this.#bodyEnded = message.endOfStream;
    this.#decide('request_body', head, { bytes: message.body, complete: this.#isComplete(message) });
  }

  /** Without the end flag a buffered body may still be whole: trailers follow it (envoy 4.5). */
  #isComplete(message: Incoming): boolean {
    if (message.endOfStream || this.#stream.protocol.requestBodyMode === 'buffered') return true;
    return this.#head?.text('content-length') === String(message.body.length);
  }

  #streamedBody(message: Incoming): void {
    // Envoy may send the end twice (envoy I27).
    if (this.#bodyEnded) return;
    this.#bodyEnded = message.endOfStream;
    if (this.#stage !== 'collecting') {
      this.#stage = 'settled';
      this.#echoed().send(message.body, message.endOfStream);
      return;
    }
    this.#held ??= new HeldBody(this.#settings.held);
    this.#held.add(message.body);
    if (this.#bodyEnded || this.#holdsEnough(this.#held)) this.#decideByCollected();
  }

  #echoed(): Echo {
    this.#echo ??= new Echo('request_body', this.#stream);
    return this.#echo;
  }

  /** Of one body and of all together: whoever comes when these are too much is decided by its beginning. */
  #holdsEnough({ byteLength }: HeldBody): boolean {
    const { collectLimitBytes, held } = this.#settings;
    return byteLength >= collectLimitBytes || held.full;
  }

  #decideByCollected(): void {
    const body = { bytes: this.#held?.joined() ?? EMPTY, complete: this.#bodyEnded };
    if (this.#head !== null) this.#decide('request_headers', this.#head, body);
  }

  #decide(answers: Phase, head: RequestHead, body: BodyBytes | null): void {
    this.#stage = 'deciding';
    this.#decidesIn = answers;
    this.#pickedByBody = body !== null;
    this.#decider.decide(head, body, this.#stream.facts);
  }

  /** Header changes go with header and body answers; trailers can carry the metadata only. */
  #reply(pick: PickAnswer | null): void {
    const phase = this.#decidesIn;
    const { controlHeaders } = this.#settings;
    const base = phase === 'request_headers' && this.#head !== null ? removals(this.#head, controlHeaders) : null;
    if (pick === null) {
      this.#send(phase, base, null, false, null);
      return;
    }
    const body = phase === 'request_body' ? pick.body : null;
    const changes = phase === 'request_trailers' ? null : this.#changesOf(pick, base);
    const { destination, strict, pickId, rank, decisionHeader: decision, prefillMirror: prefill } = pick;
    this.#send(phase, changes, { destination, strict, pickId, rank, decision, prefill }, false, body);
  }

  /** The request was placed by its headers, or in vain. */
  #continueBody({ endOfStream }: Incoming): void {
    this.#bodyEnded = endOfStream;
    this.#send('request_body', null, null, false, null);
  }

  /** As much as is known of trailers when an answer goes out; null where the route stays as it is. */
  #routeFor(phase: Phase, asksForBody: boolean): RouteChoice | null {
    if (!this.#mayEndWithTrailers) return null;
    const mode = this.#stream.protocol.requestBodyMode;
    if (phase === 'request_body') {
      const held = mode === 'none' || mode === 'buffered_partial';
      return held && this.#bodyEnded ? 'again' : null;
    }
    if (phase !== 'request_headers') return null;
    switch (mode) {
      case 'none':
        return asksForBody ? 'once' : null;
      case 'buffered_partial':
      case 'streamed':
        return 'once';
      case 'full_duplex':
        return this.#bodyEnded && !this.#trailersOwed ? null : 'once';
      default:
        return null;
    }
  }

  #changesOf(pick: PickAnswer, base: HeaderChanges | null): HeaderChanges | null {
    const { observer, testEndpointSelection } = this.#settings;
    const changes = changesOfPick(pick, base, this.#destinationHeader(), pick.body !== null, observer);
    return testEndpointSelection ? askingForEcho(changes, pick.destination) : changes;
  }

  /**
   * The Endpoint Picker Protocol wants a header copy. Outside of it our own configuration reads the metadata, where a header
   * would only reach the worker (decisions 21).
   */
  #destinationHeader(): string {
    const fullDuplex = this.#stream.protocol.requestBodyMode === 'full_duplex';
    if (this.#stream.ours && !fullDuplex) return '';
    const header = this.#settings.destinationHeader;
    if (header !== 'auto') return header;
    return fullDuplex ? DESTINATION_KEY : '';
  }

  /** What was held back in full duplex follows the header answer. */
  #release(): void {
    if (this.#stream.protocol.requestBodyMode !== 'full_duplex') return;
    const held = this.#held?.take() ?? [];
    const body = this.#pick?.body ?? null;
    const pieces = body === null ? held : [body];
    if (pieces.length > 0) this.#echoed().sendAll(pieces, this.#bodyEnded && !this.#trailersOwed);
    if (this.#trailersOwed) this.#stream.send('request_trailers', CONTINUE.request_trailers);
    this.#trailersOwed = false;
  }

  #send(
    phase: Phase,
    wanted: HeaderChanges | null,
    metadata: PickMetadata | null,
    askForBody: boolean,
    body: Buffer | null,
  ): void {
    const route = this.#routeFor(phase, askForBody);
    const changes = route === null ? wanted : choosing(route, wanted);
    // What both reference pickers send; without changed headers Envoy ignores it (envoy 5.3).
    const asPicker =
      phase === 'request_headers' && this.#stream.protocol.requestBodyMode === 'full_duplex' && changes !== null;
    const clearRouteCache = asPicker || route !== null;
    const announced = phase === 'request_headers' ? this.#announced : null;
    const plain = changes === null && metadata === null && announced === null && !askForBody && body === null;
    const bytes = plain
      ? CONTINUE[phase]
      : writeAnswer({ phase, changes, metadata, clearRouteCache, askForBody, announced, body });
    this.#stream.send(phase, bytes);
  }

  #countIgnoredOverride(): void {
    if (this.#stage === 'awaiting' && this.#askedForBody) this.#settings.observer.overrideIgnored();
    this.#askedForBody = false;
  }
}
