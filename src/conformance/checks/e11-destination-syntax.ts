import type { Check } from '../check.ts';
import { isEndpoint } from '../endpoint.ts';

/** E11: an entry that Envoy cannot read is skipped without a word. */
export const destinationSyntax: Check = {
  id: 'E11',
  title: 'Every destination is ip:port, IPv6 in brackets',
  source: 'Endpoint Picker Protocol: destination; Envoy override_host',
  async run({ requests, playAll, fleet }, findings) {
    const { endpoints } = await fleet();
    const outcomes = await playAll(Array.from({ length: 16 }, () => requests.plan('an ordinary request')));
    const lists = [...new Set(outcomes.flatMap(({ named }) => named))];
    if (lists.length === 0) {
      findings.unjudged('an ordinary request', 'the picker names no endpoint');
      return;
    }
    for (const entry of new Set([...lists, ...endpoints])) {
      findings.expect(isEndpoint(entry), `destination ${entry}`, 'ip:port, [ipv6]:port', entry);
    }
  },
};
