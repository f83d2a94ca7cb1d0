import type { Answer, BodyBytes, BodyPlan, DeferredAnswer, FinalAnswer, StreamFacts } from '../../picker/answer.ts';
import type { RequestHead } from '../../request/request-head.ts';
import type { PickObserver } from './pick-observer.ts';
import type { RequestPicker } from './request-picker.ts';

const PASS: FinalAnswer = { kind: 'pass' };
const NO_PLAN: BodyPlan = { readBody: false, reason: 'header_only' };

/** Who asked. May be called before `decide` returns. */
export interface AnswerTaker {
  answered(answer: FinalAnswer): void;
  /** The answer will take up to so many milliseconds. Told at most once, before it. */
  deferred(timeoutMs: number): void;
}

/**
 * Gets one decision of the picker: at once where it can, else within the bound of decisions 11, unless it is deferred. An
 * answer that nobody waits for any more is abandoned, so that no pick is left in flight without a request.
 */
export class Decider {
  readonly #picker: RequestPicker;
  readonly #observer: PickObserver;
  readonly #timeoutMs: number;
  readonly #taker: AnswerTaker;
  #timer: NodeJS.Timeout | null = null;
  #deferred: DeferredAnswer | null = null;

  constructor(picker: RequestPicker, observer: PickObserver, timeoutMs: number, taker: AnswerTaker) {
    this.#picker = picker;
    this.#observer = observer;
    this.#timeoutMs = timeoutMs;
    this.#taker = taker;
  }

  /** True while an answer is awaited. */
  get pending(): boolean {
    return this.#timer !== null || this.#deferred !== null;
  }

  /** Whether the decision wants the body. Where the picker throws, the headers have to do. */
  plan(head: RequestHead): BodyPlan {
    try {
      return this.#picker.plan(head);
    } catch (error) {
      this.#observer.pickFailed(error);
      return NO_PLAN;
    }
  }

  /** One decision at a time. */
  decide(head: RequestHead, body: BodyBytes | null, facts: StreamFacts): void {
    let answer: Answer | Promise<Answer>;
    try {
      answer = this.#picker.pick(head, body, facts);
    } catch (error) {
      this.#observer.pickFailed(error);
      this.#observer.passed('internal_error');
      answer = PASS;
    }
    if (answer instanceof Promise) this.#await(answer);
    else this.#take(answer);
  }

  /** Nobody waits any more. */
  cancel(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const deferred = this.#deferred;
    this.#deferred = null;
    deferred?.cancel();
  }

  #await(promise: Promise<Answer>): void {
    const timer = setTimeout(() => {
      this.#timer = null;
      this.#observer.passed('deadline');
      this.#taker.answered(PASS);
    }, this.#timeoutMs);
    this.#timer = timer;
    const taken = promise.then(
      (answer) => {
        if (this.#timer === timer) {
          this.cancel();
          this.#take(answer);
        } else if (answer.kind === 'pick') this.#picker.abandon(answer.pickId);
        else if (answer.kind === 'deferred') answer.cancel();
      },
      (error: unknown) => {
        this.#observer.pickFailed(error);
        if (this.#timer !== timer) return;
        this.cancel();
        this.#observer.passed('internal_error');
        this.#taker.answered(PASS);
      },
    );
    taken.catch((error: unknown) => this.#observer.pickFailed(error));
  }

  #take(answer: Answer): void {
    if (answer.kind !== 'deferred') {
      this.#taker.answered(answer);
      return;
    }
    this.#deferred = answer;
    this.#taker.deferred(answer.timeoutMs);
    const taken = answer.answer.then((final) => {
      // Else it was cancelled, and leaves no pick behind.
      if (this.#deferred !== answer) return;
      this.#deferred = null;
      this.#taker.answered(final);
    });
    taken.catch((error: unknown) => this.#observer.pickFailed(error));
  }
}
