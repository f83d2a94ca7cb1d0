/** One request from its head, or head and body, to the answer; with and without the messages around it. */
import { chatBody } from '../lib/bodies.mjs';
import { bodyMessage, createWorld, FACTS, headersMessage, headOf } from './world.mjs';

const KEYS = 1000;
const HEADER_KEY = {
  SMG_POLICY: 'round_robin',
  SMG_ROUTING_KEY_OVERRIDE: 'true',
  SMG_ROUTING_KEY_ORDER: 'header-first',
};
const BODY_KEY = { ...HEADER_KEY, SMG_ROUTING_KEY_ORDER: 'rid-first' };
const LENGTH_OF = { '1 KB': 1024, '220 KB': 220 * 1024 };

export function decisionCases() {
  const header = createWorld(3, HEADER_KEY);
  const body = createWorld(3, BODY_KEY);
  const messages = Array.from({ length: KEYS }, (_, i) => headersMessage({ 'x-smg-routing-key': `known-${i}_t3` }));
  const heads = messages.map(headOf);
  const decide = (world, requests) => ({
    most: KEYS,
    run(count) {
      for (let i = 0; i < count; i++) {
        const { head, bytes } = requests[i % requests.length];
        world.picker.plan(head);
        world.pick(head, bytes === null ? null : { bytes, complete: true }, FACTS);
      }
    },
    finish: world.endAll,
  });

  const known = heads.map((head) => ({ head, bytes: null }));
  const fresh = [];
  let made = 0;
  const bodies = Object.entries(LENGTH_OF).map(([size, length]) => {
    // More than two requests of one key at a time would be placed anew: the batches below stay under that.
    const count = length > 100_000 ? 64 : KEYS;
    return [size, Array.from({ length: count }, (_, i) => chatBody(length, `${size}-${i}_t3`))];
  });
  return [
    { name: 'headers, known pin', ...decide(header, known) },
    {
      name: 'headers, new pin',
      ...decide(header, fresh),
      prepare(count) {
        fresh.length = 0;
        for (let i = 0; i < count; i++) {
          fresh.push({ head: headOf(headersMessage({ 'x-smg-routing-key': `new-${made++}_t0` })), bytes: null });
        }
      },
    },
    ...bodies.map(([size, list]) => {
      const requests = list.map((bytes) => ({ head: heads[0], bytes }));
      return { name: `${size} body, known pin`, ...decide(body, requests), most: list.length };
    }),
    { name: 'headers, with messages', ...streams(header, (i) => [messages[i]]), most: KEYS },
    ...bodies.map(([size, list]) => {
      const bodyMessages = list.map(bodyMessage);
      const head = headersMessage({});
      return {
        name: `${size} body, with messages`,
        ...streams(body, (i) => [head, bodyMessages[i % list.length]]),
        most: list.length,
      };
    }),
  ];
}

/** Whole streams as the transport hands them over: open, messages, half-close, end. */
function streams(world, messagesOf) {
  let sent = 0;
  const call = {
    metadata: () => 'periodic=10',
    send: () => {
      sent += 1;
    },
    end: () => undefined,
    release: () => undefined,
  };
  return {
    run(count) {
      for (let i = 0; i < count; i++) {
        const messages = messagesOf(i);
        const before = sent;
        const stream = world.extProc.open(call);
        for (const message of messages) stream.message(message);
        stream.halfClosed();
        stream.closed();
        if (sent - before !== messages.length) throw new Error('a message was not answered');
      }
    },
    finish: world.endAll,
  };
}
