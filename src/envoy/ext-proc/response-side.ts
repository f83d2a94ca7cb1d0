import type { PickAnswer } from '../../picker/answer.ts';
import { DECISION_HEADER, ERROR_CODE_HEADER, STAMP_HEADER } from '../names.ts';
import type { HeaderChange } from '../pick/header-changes.ts';
import { isSafeHeaderValue } from '../pick/header-safety.ts';
import { CONTINUE, encodeAnswer } from './codec.ts';
import { Echo } from './echo.ts';
import type { Incoming, Protocol } from './message.ts';
import type { Outlet } from './outlet.ts';
import { codeDetails, servedAddress, triedAddress } from './served-address.ts';
import type { ExtProcSettings } from './settings.ts';

/** The response's direction of one stream: answered, echoed in full duplex, and stamped for Envoys that cannot. */
export class ResponseSide {
  readonly #settings: ExtProcSettings;
  readonly #outlet: Outlet;
  readonly #echo: Echo;
  #bodyEnded = false;

  constructor(settings: ExtProcSettings, outlet: Outlet) {
    this.#settings = settings;
    this.#outlet = outlet;
    this.#echo = new Echo('response_body', outlet);
  }

  /** @param pick what was answered to the request, null when it was not placed */
  headers(message: Incoming, ours: boolean, pick: PickAnswer | null): void {
    if (!ours && pick !== null) this.#report(message, pick.pickId);
    const decision = pick?.decisionHeader ?? null;
    const stamp = ours ? null : this.#stamp(message, pick?.rank ?? null);
    if (stamp === null) {
      this.#outlet.send('response_headers', CONTINUE.response_headers);
      return;
    }
    const set: HeaderChange[] = [{ name: STAMP_HEADER, value: stamp }];
    if (decision !== null && isSafeHeaderValue(decision)) set.push({ name: DECISION_HEADER, value: decision });
    // The code is the service's word; a worker may not use it (envoy 7).
    const changes = { remove: [ERROR_CODE_HEADER], set };
    const phase = 'response_headers';
    this.#outlet.send(
      phase,
      encodeAnswer({ phase, changes, metadata: null, clearRouteCache: false, askForBody: false, body: null }),
    );
  }

  body(message: Incoming, protocol: Protocol): void {
    if (protocol.responseBodyMode !== 'full_duplex') {
      this.#outlet.send('response_body', CONTINUE.response_body);
      return;
    }
    // Envoy may send the end twice (envoy I27).
    if (this.#bodyEnded) return;
    this.#bodyEnded = message.endOfStream;
    this.#echo.send(message.body, message.endOfStream);
  }

  trailers(): void {
    this.#bodyEnded = true;
    this.#outlet.send('response_trailers', CONTINUE.response_trailers);
  }

  /** Envoys that promise an access log tell by it. */
  #report(message: Incoming, pickId: string): void {
    const address = triedAddress(message);
    const status = Number(message.head?.text(':status'));
    if (address === null || !(status >= 100)) return;
    this.#settings.picker.answered(pickId, address, status, codeDetails(message));
  }

  /** Only a worker that answered is named, never one of Envoy's own replies (decisions 22). */
  #stamp(message: Incoming, rank: number | null): string | null {
    const address = servedAddress(message);
    if (address === null) return null;
    const stamp = this.#settings.picker.stamp(address, rank);
    return stamp !== null && isSafeHeaderValue(stamp) ? stamp : null;
  }
}
