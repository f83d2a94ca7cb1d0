import type { PrefillOrder } from '../../src/picker/prefill-dispatch.ts';
import { BODY_MEMBERS } from '../../src/request/body-members.ts';
import { scanObject } from '../../src/request/json-scanner.ts';
import { makeWorker } from './fleet.ts';
import { headOf } from './head.ts';

/** A chat completion that is placed on both legs; what matters to the test is overridden. */
export function prefillOrder(parts: Partial<PrefillOrder> = {}): PrefillOrder {
  return {
    head: headOf(),
    endpoint: 'chat',
    body: scanObject(Buffer.from('{"model":"alias"}'), BODY_MEMBERS),
    mostBodyBytes: 1000,
    model: null,
    modelLabel: 'm',
    requestId: '',
    prefill: makeWorker('http://p'),
    decode: makeWorker('http://d'),
    ...parts,
  };
}
