import type { Check } from '../check.ts';
import { modeOf, type Plan } from '../plan.ts';
import { whole } from '../requests.ts';

/** P1: a destination stands in the header and in the metadata, with the same value. */
export const headerAndMetadata: Check = {
  id: 'P1',
  title: 'Destination in header and metadata, both present and equal',
  source: 'Endpoint Picker Protocol: destination',
  async run({ requests, playAll }, findings) {
    const chat = (): Plan['body'] => ({ pieces: [requests.chat()], end: 'trailers' });
    const full = [
      requests.plan('full duplex, POST'),
      requests.plan('full duplex, POST that ends with trailers', { body: chat() }),
      requests.plan('full duplex, GET', { body: null }),
      requests.plan('full duplex, POST of 200,000 bytes', { body: whole(requests.sized(200_000).body) }),
    ];
    const outcomes = await playAll(full);
    const anyPlaced = outcomes.some(({ first }) => first !== null);
    for (const outcome of outcomes) {
      const { header, metadata } = outcome.destination;
      if (anyPlaced && outcome.first === null) {
        findings.unjudged(outcome.title, outcome.summary);
        continue;
      }
      findings.expect(
        typeof metadata === 'string' && metadata.trim() !== '' && header === metadata,
        outcome.title,
        'header x-gateway-destination-endpoint and metadata envoy.lb/x-gateway-destination-endpoint, the same text',
        header === null && metadata === null ? outcome.summary : `header ${shown(header)}, metadata ${shown(metadata)}`,
      );
    }
    const others = (['none', 'buffered', 'buffered_partial', 'streamed'] as const).map((mode) =>
      requests.plan(`${mode.toUpperCase()}, POST`, { mode: modeOf(mode) }),
    );
    for (const outcome of await playAll(others)) {
      const { header, metadata } = outcome.destination;
      findings.expect(
        header === null || metadata === null || header === metadata,
        outcome.title,
        'never two different destinations',
        `header ${shown(header)}, metadata ${shown(metadata)}`,
      );
    }
  },
};

function shown(value: unknown): string {
  return value === null ? 'absent' : JSON.stringify(value);
}
