import type { Handoff, PrefillDispatch, PrefillOrder } from '../picker/prefill-dispatch.ts';
import { scanObject } from '../request/json-scanner.ts';
import { MEMBERS } from './members.ts';
import { decodeBody } from './sequential-bodies.ts';

/** `--pd-dispatch header`: a sidecar beside the decode worker sends the prefill to the worker that is named to it. */
export class HeaderDispatch implements PrefillDispatch {
  start({ body, mostBodyBytes, model, decode }: PrefillOrder): Handoff {
    const edited =
      body === null || body.bytes.length > mostBodyBytes
        ? null
        : decodeBody(scanObject(body.bytes, MEMBERS), {
            model,
            rank: decode.rank,
            kvTransferParams: null,
            keepsClients: true,
          });
    const fits = edited !== null && edited.length <= mostBodyBytes;
    return { kind: 'handoff', body: fits ? edited : null, leftTo: 'sidecar' };
  }
}
