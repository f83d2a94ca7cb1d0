import type { PickAnswer } from '../../picker/answer.ts';
import { DECISION_HEADER, ERROR_CODE_HEADER, STAMP_HEADER } from '../names.ts';
import type { HeaderChange } from '../pick/header-changes.ts';
import { isSafeHeaderValue } from '../pick/header-safety.ts';
import { SERVED_HEADER } from './conformance-headers.ts';
import { Echo } from './echo.ts';
import type { Incoming, Protocol } from './message.ts';
import type { Outlet } from './outlet.ts';
import { attempts, chosenHost, codeDetails, servedAddress, triedAddress } from './served-address.ts';
import type { ExtProcSettings } from './settings.ts';
import { CONTINUE, writeAnswer } from './write-answer.ts';

const NOTHING: readonly string[] = [];
/** The code is the service's word; a worker may not use it (envoy 7). */
const FORGEABLE = [ERROR_CODE_HEADER];

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
    if (!ours && pick !== null) this.#report(message, pick);
    const set: HeaderChange[] = [];
    const stamp = ours ? null : this.#stamp(message, pick?.rank ?? null);
    if (stamp !== null) {
      add(set, STAMP_HEADER, stamp);
      add(set, DECISION_HEADER, pick?.decisionHeader ?? null);
    }
    if (this.#settings.testEndpointSelection) add(set, SERVED_HEADER, chosenHost(message));
    if (set.length === 0) {
      this.#outlet.send('response_headers', CONTINUE.response_headers);
      return;
    }
    const changes = { remove: stamp === null ? NOTHING : FORGEABLE, set };
    const phase = 'response_headers';
    this.#outlet.send(
      phase,
      writeAnswer({
        phase,
        changes,
        metadata: null,
        clearRouteCache: false,
        askForBody: false,
        announced: null,
        body: null,
      }),
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
  #report(message: Incoming, { pickId, destination }: PickAnswer): void {
    const status = Number(message.head?.text(':status'));
    if (!(status >= 100)) return;
    this.#settings.picker.responseBegan({
      pickId,
      destination,
      address: triedAddress(message) ?? '',
      status,
      codeDetails: codeDetails(message),
      attempts: attempts(message),
    });
  }

  /** Only a worker that answered is named, never one of Envoy's own replies (decisions 22). */
  #stamp(message: Incoming, rank: number | null): string | null {
    const address = servedAddress(message);
    return address === null ? null : this.#settings.picker.stamp(address, rank);
  }
}

function add(set: HeaderChange[], name: string, value: string | null): void {
  if (value !== null && isSafeHeaderValue(value)) set.push({ name, value });
}
