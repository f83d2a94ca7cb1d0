import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeSnapshot, makeWorker, TestFleet } from '../../test/support/fleet.ts';
import { type KeyParts, keyRules, makeRequest, type RequestParts, RouterDriver } from '../../test/support/routing.ts';
import { endpointOf } from '../request/endpoint.ts';
import { stripLineage } from '../request/lineage.ts';
import { xxh3 } from '../util/xxh3.ts';
import { newTrail } from './decision.ts';
import {
  bodyMembersFor,
  KEY_ORDERS,
  keySources,
  mayBeInBody,
  parseKeySource,
  SOURCES_OF_ORDER,
} from './key-sources.ts';
import type { PolicyName } from './policy-name.ts';
import { keyOf, loadKeyOf, prefixKeyOf, readListedKey, readManualKey, readRingKey, ringKeyOf } from './routing-keys.ts';

const CHAT = '/v1/chat/completions';
const HI = xxh3(Buffer.from('hi'));

describe('interface 3 what a source may be', () => {
  it.each([
    'rid',
    'headers',
    'agents',
    'opening',
    'cookie:sid',
    'cookie:__Host-a.b',
    'query:k',
    'query:a[0]',
    'body:/a',
  ])('%s', (text) => {
    expect(parseKeySource(text)?.text).toBe(text);
  });

  it.each([
    '',
    'header',
    'RID',
    'rid:',
    'cookie',
    'cookie:',
    'cookie:a b',
    'cookie:a=b',
    'query:',
    'body',
    'body:',
    'body:a',
    'body:/~',
    'agents:x',
  ])('not %j', (text) => {
    expect(parseKeySource(text)).toBeNull();
  });

  it('bodies are scanned for what the sources need, and for nothing twice', () => {
    const standard = bodyMembersFor(keySources(['rid', 'headers', 'cookie:a', 'body:/model']));
    const further = bodyMembersFor(keySources(['body:/user', 'body:/metadata/a', 'body:/metadata/b', 'opening']));

    expect(standard).toBe(bodyMembersFor([]));
    expect(further.names.slice(standard.names.length)).toEqual([
      'user',
      'metadata',
      'previous_response_id',
      'conversation',
    ]);
  });

  it.each([
    { source: 'rid', path: CHAT, on: true, off: false },
    { source: 'rid', path: '/v1/responses', on: false, off: false },
    { source: 'body:/user', path: '/v1/responses', on: true, off: true },
    { source: 'body:/user', path: '/v1/audio/transcriptions', on: false, off: false },
    { source: 'opening', path: CHAT, on: true, off: true },
    { source: 'opening', path: '/v1/embeddings', on: false, off: false },
    { source: 'cookie:a', path: CHAT, on: false, off: false },
    { source: 'headers', path: CHAT, on: false, off: false },
  ])('$source in the body of $path: $on, without the override $off', ({ source, path, on, off }) => {
    const parsed = parseKeySource(source)!;

    expect([mayBeInBody(parsed, endpointOf(path), true), mayBeInBody(parsed, endpointOf(path), false)]).toEqual([
      on,
      off,
    ]);
  });
});

/** One request that has a key in every place. */
const EVERYWHERE: RequestParts = {
  path: `${CHAT}?k=q_t1`,
  headers: [
    ['cookie', 'sid=c_t1'],
    ['x-session-id', 'a_t1'],
  ],
  key: 'h_t1',
  rid: 'r',
  body: { user: 'b_t1', n: 7, messages: [{ role: 'user', content: 'hi' }] },
};

describe('sticky-sessions P12 keys by source', () => {
  it.each([
    { source: 'rid', on: ['r', 'rid'], off: [null, null] },
    { source: 'headers', on: ['h', 'header'], off: ['h_t1', 'header'] },
    { source: 'agents', on: ['a', 'agents'], off: ['a_t1', 'agents'] },
    { source: 'cookie:sid', on: ['c', 'cookie'], off: ['c_t1', 'cookie'] },
    { source: 'query:k', on: ['q', 'query'], off: ['q_t1', 'query'] },
    { source: 'body:/user', on: ['b', 'body'], off: ['b_t1', 'body'] },
    { source: 'body:/n', on: ['7', 'body'], off: ['7', 'body'] },
    { source: 'opening', on: [HI, 'opening'], off: [HI, 'opening'] },
  ])('$source alone: $on, without the override $off', ({ source, on, off }) => {
    const found = (override: boolean) => {
      const trail = newTrail();
      const key = keyOf(makeRequest(EVERYWHERE), keyRules({ sources: [source], override }), readListedKey, trail);
      return [key, trail.keySource];
    };

    expect([found(true), found(false)]).toEqual([on, off]);
  });

  it('none of them is found where it is not', () => {
    for (const source of ['rid', 'headers', 'agents', 'cookie:sid', 'query:k', 'body:/user', 'opening']) {
      for (const parts of [{}, { body: {} }]) {
        expect(keyOf(makeRequest(parts), keyRules({ sources: [source] }), readListedKey, null)).toBeNull();
      }
    }
  });

  it.each([
    { what: 'an empty cookie', source: 'cookie:sid', parts: { headers: [['cookie', 'sid=']] } },
    { what: 'a long cookie', source: 'cookie:sid', parts: { headers: [['cookie', `sid=${'k'.repeat(129)}`]] } },
    {
      what: 'a cookie of no UTF-8',
      source: 'cookie:sid',
      parts: { headers: [['cookie', Buffer.from('sid=\xff', 'latin1')]] },
    },
    { what: 'an empty parameter', source: 'query:k', parts: { path: '/?k=' } },
    { what: 'a long parameter', source: 'query:k', parts: { path: `/?k=${'k'.repeat(129)}` } },
    { what: 'a parameter of no UTF-8', source: 'query:k', parts: { path: '/?k=%ff' } },
    { what: 'a parameter with a line end', source: 'query:k', parts: { path: '/?k=a%0Ab' } },
    { what: 'a long member', source: 'body:/user', parts: { body: { user: 'k'.repeat(129) } } },
    { what: 'an empty member', source: 'body:/user', parts: { body: { user: '' } } },
    { what: 'a list', source: 'body:/user', parts: { body: { user: ['a'] } } },
  ] satisfies { what: string; source: string; parts: RequestParts }[])(
    'the hint rule of sticky-sessions 1.1 holds for them: $what counts as absent',
    ({ source, parts }) => {
      const rules = keyRules({ sources: [source, 'headers'] });

      expect(keyOf(makeRequest({ key: 'next', ...parts, ...withKey(parts) }), rules, readListedKey, null)).toBe('next');
    },
  );

  it('the first source that has a key wins, in any order', () => {
    const texts = ['rid', 'headers', 'agents', 'cookie:sid', 'query:k', 'body:/user', 'opening'] as const;
    const keys = {
      rid: 'r',
      headers: 'h',
      agents: 'a',
      'cookie:sid': 'c',
      'query:k': 'q',
      'body:/user': 'b',
      opening: HI,
    };
    fc.assert(
      fc.property(fc.shuffledSubarray([...texts], { minLength: 1 }), (sources) => {
        const rules = keyRules({ sources });

        expect(keyOf(makeRequest(EVERYWHERE), rules, readListedKey, null)).toBe(keys[sources[0]!]);
        expect(loadKeyOf(makeRequest(EVERYWHERE), rules)).toBe(keys[sources[0]!]);
      }),
    );
  });

  it('a key of any source is one of 1 to 128 bytes, stripped like all others', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        fc.pre(text.isWellFormed());
        const parts = { path: `/?k=${encodeURIComponent(text)}`, body: { user: text } };
        for (const source of ['query:k', 'body:/user']) {
          const key = keyOf(makeRequest(parts), keyRules({ sources: [source] }), readListedKey, null);
          const length = Buffer.byteLength(text);
          // biome-ignore lint/suspicious/noControlCharactersInRegex: these are refused
          const fits = length > 0 && length <= 128 && !/[\u0000-\u001f\u007f]/.test(text);
          expect(key).toBe(fits ? stripLineage(text) : null);
        }
      }),
    );
  });
});

function withKey({ headers }: RequestParts): RequestParts {
  return headers === undefined ? {} : { headers: [...headers, ['x-smg-routing-key', 'next']] };
}

describe('decisions 39 the orders of SMG are lists of sources', () => {
  it.each(KEY_ORDERS)('%s', (order) => {
    expect(keyRules({ order })).toEqual(keyRules({ sources: SOURCES_OF_ORDER[order] }));
  });

  it('`rid` alone leaves the headers out, under every policy', () => {
    const rules = keyRules({ sources: ['rid'] });
    for (const reader of [readListedKey, readManualKey, readRingKey]) {
      expect(keyOf(makeRequest({ key: 'h' }), rules, reader, null)).toBeNull();
      expect(keyOf(makeRequest({ key: 'h', rid: 'r' }), rules, reader, null)).toBe('r');
    }
  });
});

describe('sticky-sessions 2.5 further sources under each policy', () => {
  const sources = ['cookie:sid', 'headers'];
  const both: RequestParts = { headers: [['cookie', 'sid=c_t1']], key: 'h_t1' };

  it.each([
    { policy: 'manual', override: true, want: 'c' },
    { policy: 'manual', override: false, want: 'c_t1' },
    { policy: 'consistent_hashing', override: true, want: 'c' },
    { policy: 'consistent_hashing', override: false, want: 'c_t1' },
  ] as const)('$policy, override $override: $want', ({ policy, override, want }) => {
    const rules = keyRules({ sources, override });
    const reader = policy === 'manual' ? readManualKey : readRingKey;

    expect(keyOf(makeRequest(both), rules, reader, null)).toBe(want);
    expect(keyOf(makeRequest({ key: 'h_t1' }), rules, reader, null)).toBe('h_t1');
  });

  it('an implicit key of consistent_hashing stands behind them', () => {
    expect(ringKeyOf(makeRequest(both), keyRules({ sources: ['query:k'] }))).toBe('sid=c_t1');
    expect(ringKeyOf(makeRequest(both), keyRules({ sources: ['cookie:sid'] }))).toBe('c');
  });

  it('prefix_hash hashes them instead of a prompt, but never a `rid`', () => {
    const parts: RequestParts = { ...both, rid: 'r' };

    expect(prefixKeyOf(makeRequest(parts), keyRules({ sources: ['rid', 'cookie:sid'] }))).toBe('c');
    expect(prefixKeyOf(makeRequest(parts), keyRules({ sources: ['rid', 'headers'] }))).toBe('h_t1');
    expect(prefixKeyOf(makeRequest(parts), keyRules({ sources: ['rid'] }))).toBeNull();
    expect(prefixKeyOf(makeRequest(EVERYWHERE), keyRules({ sources: ['body:/user'], override: false }))).toBe('b_t1');
  });

  it.each(['round_robin', 'manual', 'consistent_hashing'] as const)(
    '%s keeps a conversation whole by a cookie',
    (policy) => {
      const fleet = new TestFleet(['a', 'b', 'c'].map((id) => makeWorker(id)));
      const driver = new RouterDriver(fleet, { policy, keys: { sources: ['cookie:sid'] } });
      const at = (sid: string) => driver.place({ headers: [['cookie', `x=1; sid=${sid}`]] }).worker.id;

      for (const sid of ['one', 'two', 'three', 'four']) expect(at(`${sid}_t2`)).toBe(at(`${sid}_t1`));
    },
  );
});

describe('sticky-sessions 11.2 whether a source needs the body', () => {
  const snapshot = makeSnapshot([makeWorker('a', { models: ['m'] }), makeWorker('b', { models: ['m'] })]);
  const need = (
    sources: readonly string[],
    parts: RequestParts,
    options: { policy?: PolicyName; keys?: KeyParts } = {},
  ) => {
    const { policy = 'round_robin', keys = {} } = options;
    const driver = new RouterDriver(new TestFleet([]), { policy, keys: { sources, ...keys } });
    const { head } = makeRequest(parts);
    return driver.router.bodyNeed(head, snapshot, endpointOf(head.path)) === 'routing_key_override';
  };
  const cookie: RequestParts = { headers: [['cookie', 'sid=c']] };

  it.each([
    { sources: ['cookie:sid', 'body:/user'], parts: cookie, want: false },
    { sources: ['cookie:sid', 'body:/user'], parts: {}, want: true },
    { sources: ['body:/user', 'cookie:sid'], parts: cookie, want: true },
    { sources: ['query:k', 'agents', 'rid', 'opening'], parts: { path: `${CHAT}?k=1` }, want: false },
    { sources: ['query:k', 'agents', 'rid', 'opening'], parts: { headers: [['session-id', 's']] }, want: false },
    { sources: ['query:k', 'agents', 'rid', 'opening'], parts: {}, want: true },
    { sources: ['headers', 'opening'], parts: { key: 'k'.repeat(129) }, want: true },
    { sources: ['cookie:sid', 'query:k'], parts: {}, want: false },
    { sources: ['rid'], parts: { key: 'h' }, want: true },
    { sources: ['rid', 'cookie:sid'], parts: { path: '/v1/responses' }, want: false },
    { sources: ['rid', 'body:/user'], parts: { path: '/v1/responses' }, want: true },
    { sources: ['opening'], parts: { path: '/v1/responses' }, want: true },
    { sources: ['opening'], parts: { path: '/v1/embeddings' }, want: false },
    { sources: ['opening', 'cookie:sid', 'body:/user'], parts: { path: '/v1/embeddings', ...cookie }, want: false },
  ] satisfies { sources: string[]; parts: RequestParts; want: boolean }[])(
    '$sources with $parts: $want',
    ({ sources, parts, want }) => {
      expect(need(sources, parts)).toBe(want);
    },
  );

  it.each([
    { policy: 'round_robin', sources: ['body:/user'], want: false },
    { policy: 'manual', sources: ['body:/user'], want: true },
    { policy: 'consistent_hashing', sources: ['body:/user'], want: true },
    { policy: 'prefix_hash', sources: ['body:/user'], want: true },
    { policy: 'manual', sources: ['rid'], want: false },
    { policy: 'manual', sources: ['rid', 'opening'], want: true },
  ] as const)('without the override $policy asks for the body of $sources: $want', ({ policy, sources, want }) => {
    expect(need(sources, {}, { policy, keys: { override: false } })).toBe(want);
  });

  it('a target worker beats every key', () => {
    expect(need(['body:/user'], { target: '0' }, { policy: 'consistent_hashing' })).toBe(false);
    expect(need(['body:/user'], { target: '0' })).toBe(true);
  });

  it('a pinned key of a cookie spares the prompt of a policy that reads it', () => {
    const driver = new RouterDriver(new TestFleet(snapshot.workers), {
      policy: 'cache_aware',
      keys: { sources: ['cookie:sid', 'headers'] },
    });
    driver.pins.put('1:m:s:c', ['a'], 0, 1);
    const needs = (parts: RequestParts) =>
      driver.router.bodyNeed(makeRequest(parts).head, driver.fleet.snapshot, endpointOf(CHAT));

    expect(needs(cookie)).toBeNull();
    expect(needs({ key: 'c' })).toBeNull();
    expect(needs({ headers: [['cookie', 'sid=new']] })).toBe('policy_needs_text');
    expect(needs({ headers: [['cookie', 'sid=new']], key: 'c' })).toBe('policy_needs_text');
  });

  it('the answer is right: without the body the key is the same as with it', () => {
    const source = fc.constantFrom('rid', 'headers', 'agents', 'cookie:sid', 'query:k', 'body:/user', 'opening');
    const parts = fc.record({
      path: fc.constantFrom(CHAT, `${CHAT}?k=q`, '/v1/responses'),
      headers: fc.subarray([['cookie', 'sid=c'] as const, ['session-id', 's'] as const]),
      key: fc.constantFrom('', 'h'),
      body: fc.constantFrom({}, { user: 'b' }, { messages: [{ role: 'user', content: 'hi' }] }),
    });
    fc.assert(
      fc.property(fc.uniqueArray(source, { minLength: 1 }), parts, (sources, request) => {
        fc.pre(!need(sources, request));
        const rules = keyRules({ sources });
        const whole = makeRequest(request);
        // A body of a chat in a request to another endpoint tells of no opening there.
        fc.pre(!(request.path === '/v1/responses' && sources.includes('opening')));

        expect(keyOf({ ...whole, bodyKeys: null }, rules, readListedKey, null)).toBe(
          keyOf(whole, rules, readListedKey, null),
        );
      }),
    );
  });
});
