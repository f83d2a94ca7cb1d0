import type { ProcessingRequest } from '../gen/envoy/service/ext_proc/v3/external_processor.ts';
import type { AnswerKind } from './message.ts';
import { bodyMessage, headersMessage, metadataOf, protocolOf, trailersMessage } from './messages.ts';
import { FILTER } from './names.ts';
import { BODY_MODES, type Body, type BodyMode, type Plan, TRAILERS } from './plan.ts';
import type { ProcessStream } from './process-stream.ts';

type Direction = 'request' | 'response';

/**
 * Plays one HTTP request over a stream as Envoy does (envoy 3 and 4): waits for each answer outside full duplex, waits for
 * nothing within it, obeys an override of the mode, sends nothing after an immediate response. Judges nothing.
 */
export class Exchange {
  readonly #stream: ProcessStream;
  readonly #plan: Plan;
  #began = false;

  constructor(stream: ProcessStream, plan: Plan) {
    this.#stream = stream;
    this.#plan = plan;
  }

  /** Resolves when the stream is over. True when the picker owed an answer and was silent for too long. */
  async run(): Promise<boolean> {
    const { response, close } = this.#plan;
    let answered = await this.#request();
    if (answered && response !== null && !this.#over) answered = await this.#response();
    const silent = !answered && !this.#over;
    if (close === 'reset') this.#stream.reset();
    else this.#stream.halfClose();
    if (!(await this.#stream.ended())) this.#stream.reset();
    return silent;
  }

  /** The picker has ended the stream or the request. */
  get #over(): boolean {
    return this.#stream.end !== null || this.#count('immediateResponse') > 0;
  }

  async #request(): Promise<boolean> {
    const { mode, headers, body } = this.#plan;
    await this.#send(headersMessage('request', headers, body === null), this.#plan.metadataOn === 'all');
    if (mode.request === 'full_duplex') return this.#duplex('request', body);
    if (!(await this.#answer('requestHeaders'))) return false;
    if (body === null) return true;
    return this.#plain('request', body, this.#overridden() ?? mode.request);
  }

  /** What the answer to the headers asks for, where the mode leaves it open (envoy 4.2). */
  #overridden(): BodyMode | null {
    if (this.#plan.mode.request !== 'none') return null;
    for (const entry of this.#stream.entries) {
      const asked = entry.from === 'picker' ? entry.message.modeOverride?.requestBodyMode : undefined;
      if (asked !== undefined && asked !== 0) return BODY_MODES.at(asked) ?? null;
    }
    return null;
  }

  async #response(): Promise<boolean> {
    const { response, mode } = this.#plan;
    if (response === null) return true;
    const message = headersMessage('response', response.headers, response.body === null);
    if (response.metadata !== null) message.metadataContext = metadataOf(response.metadata);
    if (response.attributes !== null) message.attributes = { [FILTER]: response.attributes };
    await this.#send(message, false);
    if (mode.response === 'full_duplex') return this.#duplex('response', response.body);
    if (!(await this.#answer('responseHeaders'))) return false;
    return response.body === null || this.#plain('response', response.body, mode.response);
  }

  /** Message by message, each after the answer to the one before. */
  async #plain(of: Direction, body: Body, mode: BodyMode): Promise<boolean> {
    const kind = of === 'request' ? 'requestBody' : 'responseBody';
    const pieces = mode === 'streamed' ? body.pieces : [Buffer.concat(body.pieces)];
    if (mode !== 'none' && body.end !== 'never') {
      for (const [index, piece] of pieces.entries()) {
        const last = index === pieces.length - 1;
        await this.#send(bodyMessage(of, piece, last && body.end !== 'trailers'), last);
        if (!(await this.#answer(kind))) return false;
      }
    }
    return body.end !== 'trailers' || !this.#plan.mode.trailers || this.#trailers(of);
  }

  /** All of it, whatever has been answered; then the echo is awaited. */
  async #duplex(of: Direction, body: Body | null): Promise<boolean> {
    const headers = of === 'request' ? 'requestHeaders' : 'responseHeaders';
    if (body === null) return this.#answer(headers);
    // The data of an upgraded connection begins when the other side has agreed.
    if (body.end === 'never' && !(await this.#answer(headers))) return false;
    const last = body.pieces.length - 1;
    for (const [index, piece] of body.pieces.entries()) {
      if (this.#over) return false;
      const ends = index === last && (body.end === 'flag' || body.end === 'twice');
      await this.#send(bodyMessage(of, piece, ends), index === last && body.end !== 'empty_flag');
    }
    if (body.end === 'empty_flag') await this.#send(bodyMessage(of, Buffer.alloc(0), true), true);
    if (body.end === 'twice') await this.#send(bodyMessage(of, body.pieces.at(-1) ?? Buffer.alloc(0), true), true);
    if (body.end === 'trailers') await this.#send(trailersMessage(of, TRAILERS), false);
    const kind = of === 'request' ? 'requestBody' : 'responseBody';
    const sent = body.pieces.reduce((sum, piece) => sum + piece.length, 0);
    const echoed = await this.#awaited(() => this.#count(headers) > 0 && this.#isThrough(kind, sent, body.end));
    if (!echoed || body.end !== 'trailers' || this.#plan.ignoresTrailers) return echoed;
    return this.#answer(of === 'request' ? 'requestTrailers' : 'responseTrailers');
  }

  async #trailers(of: Direction): Promise<boolean> {
    await this.#send(trailersMessage(of, TRAILERS), false);
    if (this.#plan.ignoresTrailers) return true;
    return this.#answer(of === 'request' ? 'requestTrailers' : 'responseTrailers');
  }

  async #send(message: ProcessingRequest, withMetadata: boolean): Promise<void> {
    const { mode, metadata, metadataOn, pauseMs } = this.#plan;
    // A picker that goes by the headers answers before it could see metadata that come later.
    if (metadataOn === 'last body' && withMetadata) {
      await this.#stream.until(() => this.#over || this.#count('requestHeaders') > 0, pauseMs);
    }
    if (!this.#began) message.protocolConfig = protocolOf(mode);
    this.#began = true;
    const belongs = metadataOn === 'all' ? message.metadataContext === undefined : withMetadata;
    if (metadata !== null && belongs) message.metadataContext = metadataOf(metadata);
    await this.#stream.send(message);
  }

  /** Resolves with false when nothing more may be sent. */
  #answer(kind: AnswerKind): Promise<boolean> {
    const wanted = this.#stream.entries.filter((entry) => entry.from === 'us' && entry.kind === kind).length;
    return this.#awaited(() => this.#count(kind) >= wanted);
  }

  async #awaited(done: () => boolean): Promise<boolean> {
    await this.#stream.until(() => this.#over || done());
    return !this.#over && done();
  }

  #count(kind: AnswerKind): number {
    let count = 0;
    for (const entry of this.#stream.entries) if (entry.from === 'picker' && entry.kind === kind) count += 1;
    return count;
  }

  /** All came back; or the picker answers without streaming, as in other modes, and there is nothing to wait for. */
  #isThrough(kind: AnswerKind, bytes: number, end: Body['end']): boolean {
    let came = 0;
    let plain = 0;
    let ended = false;
    for (const entry of this.#stream.entries) {
      const answer = entry.from === 'picker' && entry.kind === kind ? entry.message.response : undefined;
      if (answer?.$case !== 'requestBody' && answer?.$case !== 'responseBody') continue;
      const mutation = answer.value.response?.bodyMutation?.mutation;
      if (mutation?.$case !== 'streamedResponse') {
        plain += 1;
        continue;
      }
      came += mutation.value.body?.length ?? 0;
      if (mutation.value.endOfStream === true) ended = true;
    }
    const sent = this.#stream.entries.filter((entry) => entry.from === 'us' && entry.kind === kind).length;
    return (plain > 0 && plain >= sent) || (came >= bytes && (ended || end === 'trailers' || end === 'never'));
  }
}
