import type { Check } from '../check.ts';
import { headersMessage, protocolOf } from '../messages.ts';
import { FULL_DUPLEX } from '../plan.ts';

/** E14: Envoy assumes its own limit of streams until it hears the picker's, and the first burst is refused. */
export const manyStreams: Check = {
  id: 'E14',
  title: '200 streams open at once on a fresh connection, each answered',
  source: 'HTTP/2 MAX_CONCURRENT_STREAMS',
  async run({ connect, requests, load }, findings) {
    const connection = connect();
    try {
      const streams = Array.from({ length: load.streams }, () => connection.open());
      const headers = (): Parameters<(typeof streams)[number]['send']>[0] => ({
        ...headersMessage('request', requests.headers('GET', '/v1/models'), true),
        protocolConfig: protocolOf(FULL_DUPLEX),
      });
      await Promise.all(streams.map((stream) => stream.send(headers())));
      const answered = await Promise.all(
        streams.map((stream) => stream.until(() => stream.entries.some((entry) => entry.from === 'picker'))),
      );
      for (const stream of streams) stream.halfClose();
      await Promise.all(streams.map(async (stream) => (await stream.ended()) || stream.reset()));
      const failed = streams.find((stream) => stream.end !== null && stream.end.code !== 0);
      const why = failed?.end == null ? '' : `; one ended with ${failed.end.code} (${failed.end.details})`;
      const count = answered.filter(Boolean).length;
      const sent = `${streams.length} streams, all open before the first ends`;
      findings.expect(count === streams.length && failed === undefined, sent, 'an answer on each', `${count}${why}`);
    } finally {
      connection.close();
    }
  },
};
