import type { Handoff, PrefillDispatch, PrefillFailure, PrefillOrder } from '../picker/prefill-dispatch.ts';
import { scanObject } from '../request/json-scanner.ts';
import { bootstrapBodies } from './bootstrap-bodies.ts';
import { noRoomIn, prefillFailure, UNREACHABLE } from './failures.ts';
import { MEMBERS } from './members.ts';
import type { FindPrefillWorker } from './prefill-worker.ts';
import { drawRoom, type FillRandom } from './rooms.ts';

export interface MirrorDispatchOptions {
  readonly find: FindPrefillWorker;
  readonly observer: { noBootstrap(): void };
  readonly fill: FillRandom;
}

/**
 * `--pd-dispatch mirror`: Envoy sends both workers the same request, which names the room where they meet. Nobody hears how the
 * prefill worker does (decisions 27, envoy 12).
 */
export class MirrorDispatch implements PrefillDispatch {
  readonly #options: MirrorDispatchOptions;

  constructor(options: MirrorDispatchOptions) {
    this.#options = options;
  }

  start(order: PrefillOrder): Handoff | PrefillFailure {
    const { body, mostBodyBytes, endpoint, model, prefill } = order;
    const { find, observer, fill } = this.#options;
    const worker = find(prefill);
    if (worker === undefined || prefill.address === '')
      return prefillFailure(502, 'prefill_request_failed', UNREACHABLE);
    if (body !== null) {
      const fields = { host: worker.host, port: worker.bootstrapPort, model, prefillRank: null, decodeRank: null };
      const { decode } = bootstrapBodies(scanObject(body.bytes, MEMBERS), endpoint, fields, () => drawRoom(fill));
      if (decode.length <= mostBodyBytes) return { kind: 'handoff', body: decode, leftTo: 'envoy' };
    }
    observer.noBootstrap();
    return noRoomIn(order);
  }
}
