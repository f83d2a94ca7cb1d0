import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CheckResponse } from '../../gen/envoy/service/auth/v3/external_auth.ts';
import { encodeDenied, encodeOk, PASS_RESPONSE } from './check-response.ts';

const word = fc.string({ unit: 'grapheme', maxLength: 200 });
const header = fc.record({ name: word, value: word });
const changes = fc.record({ remove: fc.uniqueArray(word), set: fc.array(header, { maxLength: 5 }) });
const metadata = fc.record({
  destination: word,
  strict: fc.boolean(),
  pickId: word,
  rank: fc.option(fc.nat()),
  decision: fc.option(word),
  prefill: fc.constant(null),
});

/** Lone surrogates leave as U+FFFD. */
const sent = (value: string) => Buffer.from(value).toString();

describe('answers to a check, as the generated code reads them', () => {
  it('one that lets the request go on', () => {
    fc.assert(
      fc.property(
        fc.option(changes),
        fc.array(header, { maxLength: 3 }),
        fc.option(metadata),
        (change, response, pick) => {
          const answer = CheckResponse.decode(encodeOk(change, response, pick));

          expect(answer.status).toMatchObject({ code: 0 });
          const ok = answer.httpResponse?.$case === 'okResponse' ? answer.httpResponse.value : null;
          expect(ok?.headers?.map((each) => each.header)).toEqual(
            (change?.set ?? []).map(({ name, value }) =>
              expect.objectContaining({ key: sent(name), value: sent(value) }),
            ),
          );
          // Envoy removes after it has set.
          const named = new Set(change?.set.map((each) => each.name));
          expect(ok?.headersToRemove).toEqual(change?.remove.filter((each) => !named.has(each)).map(sent) ?? []);
          expect(
            ok?.responseHeadersToAdd?.map((each) => [each.header?.key, each.header?.value, each.appendAction]),
          ).toEqual(response.map(({ name, value }) => [sent(name), sent(value), 2]));
          expect(answer.dynamicMetadata).toEqual(
            pick === null
              ? undefined
              : {
                  'x-gateway-destination-endpoint': sent(pick.destination),
                  pick_id: sent(pick.pickId),
                  ...(pick.strict ? { strict: '1' } : {}),
                  ...(pick.rank === null ? {} : { rank: `${pick.rank}`, rank_suffix: `@${pick.rank}` }),
                  ...(pick.decision === null ? {} : { decision: sent(pick.decision) }),
                },
          );
        },
      ),
    );
  });

  it('one for the client', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 200, max: 599 }),
        fc.array(header),
        word,
        word,
        (status, headers, body, details) => {
          const answer = CheckResponse.decode(encodeDenied({ status, headers, body, details }));

          expect(answer.status?.code).toBe(7);
          expect(answer.httpResponse).toEqual({
            $case: 'deniedResponse',
            value: {
              status: { code: status },
              headers: headers.map(({ name, value }) => ({
                header: expect.objectContaining({ key: sent(name), value: sent(value) }),
                append: undefined,
                appendAction: 0,
              })),
              body: sent(body),
            },
          });
          expect(answer.dynamicMetadata).toEqual({ error_code: sent(details) });
        },
      ),
    );
  });

  it('one that changes nothing', () => {
    expect(CheckResponse.decode(PASS_RESPONSE)).toMatchObject({
      status: { code: 0 },
      httpResponse: { $case: 'okResponse', value: { headers: [], headersToRemove: [] } },
      dynamicMetadata: undefined,
    });
  });

  it('larger than the memory that the writer began with', () => {
    const value = 'ä'.repeat(5_000);
    const answer = CheckResponse.decode(encodeOk({ remove: [], set: [{ name: 'x-a', value }] }, [], null));
    expect(answer.httpResponse).toMatchObject({ value: { headers: [{ header: { key: 'x-a', value } }] } });
  });
});
