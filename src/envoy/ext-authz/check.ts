import type { BodyBytes, FinalAnswer, PickAnswer, StreamFacts } from '../../picker/answer.ts';
import { type Call, type CallHandler, GrpcStatus } from '../../transport/transport.ts';
import { DECISION_HEADER, ENVOY_MARK, STAMP_HEADER, STRICT_HEADER } from '../names.ts';
import { type AnswerTaker, Decider } from '../pick/decider.ts';
import { periodicLogMs } from '../pick/envoy-mark.ts';
import { changesOfPick, type HeaderChange, type HeaderChanges, removals, withHeader } from '../pick/header-changes.ts';
import { isSafeHeaderValue } from '../pick/header-safety.ts';
import { immediateOf } from '../pick/refusal.ts';
import { CheckRequest } from './check-request.ts';
import { encodeDenied, encodeOk, PASS_RESPONSE } from './check-response.ts';
import type { CheckAnswer, ExtAuthzSettings } from './settings.ts';

const NO_HEADERS: readonly HeaderChange[] = [];
/** Our configuration makes it the metadata that keeps everybody else from serving (envoy 6.6), and removes it. */
const STRICT: HeaderChange = { name: STRICT_HEADER, value: '1' };

/** One `Check` call, which is one HTTP request. Decides by what Envoy sent: it cannot be asked for a body (envoy 11.1). */
export class Check implements CallHandler, AnswerTaker {
  readonly #call: Call;
  readonly #settings: ExtAuthzSettings;
  /** Made by our own configuration, which stamps answers, reads metadata and logs their end. */
  readonly #ours: boolean;
  readonly #facts: StreamFacts;
  readonly #decider: Decider;
  #request: CheckRequest | null = null;

  constructor(call: Call, settings: ExtAuthzSettings) {
    this.#call = call;
    this.#settings = settings;
    this.#decider = new Decider(settings.picker, settings.observer, settings.decisionTimeoutMs, this);
    const periodic = periodicLogMs(call.metadata(ENVOY_MARK));
    this.#ours = periodic !== null;
    this.#facts = { periodicLogMs: periodic ?? 0, endpointPicker: false, editsBody: false, pickId: null, subset: null };
  }

  message(bytes: Buffer): void {
    const { observer } = this.#settings;
    const request = CheckRequest.read(bytes);
    observer.messageReceived(request === null ? 'unknown' : 'check_request');
    if (request === null) {
      observer.passed('protocol_error');
      this.#send('ok_response', PASS_RESPONSE);
      return;
    }
    this.#request = request;
    this.#decider.decide(request, this.#bodyToRead(request), this.#facts);
    if (!this.#decider.pending) this.#call.release(bytes);
  }

  /** Of a unary call, the client says no more than its message. */
  halfClosed(): void {
    if (this.#request === null) this.#call.end(GrpcStatus.invalidArgument, 'no request');
  }

  /** A client that left takes its call along: what is decided for it then is abandoned. */
  closed(): void {
    this.#decider.cancel();
  }

  answered(answer: FinalAnswer): void {
    switch (answer.kind) {
      case 'pick':
        this.#send('ok_response', this.#placed(answer));
        break;
      case 'refusal':
        this.#send('denied_response', encodeDenied(immediateOf(answer, this.#settings.observer)));
        break;
      case 'pass': {
        const changes = this.#removals();
        this.#send('ok_response', changes === null ? PASS_RESPONSE : encodeOk(changes, NO_HEADERS, null));
        break;
      }
    }
  }

  /** The time of a check is set by Envoy's configuration alone. */
  deferred(): void {}

  #send(kind: CheckAnswer, bytes: Buffer): void {
    this.#settings.observer.answerSent(kind);
    this.#call.send(bytes);
    this.#call.end();
  }

  /** What there is of a body that the decision wants; null where the head has to do. */
  #bodyToRead(request: CheckRequest): BodyBytes | null {
    const { observer } = this.#settings;
    const plan = this.#decider.plan(request);
    const body = plan.readBody ? request.body : null;
    observer.bodyPath(plan.readBody && body === null ? 'mode_cannot_grant' : plan.reason);
    return body;
  }

  #removals(): HeaderChanges | null {
    return this.#request === null ? null : removals(this.#request, this.#settings.controlHeaders);
  }

  #placed(pick: PickAnswer): Buffer {
    const { destinationHeader, observer } = this.#settings;
    const { destination, strict, pickId, rank, decisionHeader: decision, prefillMirror: prefill } = pick;
    const metadata = { destination, strict, pickId, rank, decision, prefill };
    const base = this.#removals();
    if (!this.#ours) {
      const changes = changesOfPick(pick, base, destinationHeader, false, observer);
      return encodeOk(changes, this.#responseHeaders(pick), metadata);
    }
    const changes = changesOfPick(pick, base, '', false, observer);
    return encodeOk(strict ? withHeader(changes, STRICT) : changes, NO_HEADERS, metadata);
  }

  /** Names the worker that was meant, since an answer to a check is all that there is: a retry may have another one answer. */
  #responseHeaders({ destination, rank, decisionHeader }: PickAnswer): readonly HeaderChange[] {
    const stamp = this.#settings.picker.stamp(firstOf(destination), rank);
    if (stamp === null && decisionHeader === null) return NO_HEADERS;
    const headers: HeaderChange[] = [];
    this.#add(headers, STAMP_HEADER, stamp);
    this.#add(headers, DECISION_HEADER, decisionHeader);
    return headers;
  }

  #add(headers: HeaderChange[], name: string, value: string | null): void {
    if (value === null) return;
    if (isSafeHeaderValue(value)) headers.push({ name, value });
    else this.#settings.observer.headerLeftOut(name);
  }
}

function firstOf(destination: string): string {
  const end = destination.indexOf(',');
  return end < 0 ? destination : destination.slice(0, end);
}
