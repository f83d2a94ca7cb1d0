import type { Check } from '../check.ts';
import { isEndpoint } from '../endpoint.ts';
import { SUBSET, SUBSET_NAMESPACE } from '../names.ts';

/** E11: an entry that Envoy cannot read is skipped without a word. */
export const destinationSyntax: Check = {
  id: 'E11',
  title: 'Every destination is ip:port, IPv6 in brackets and shortest',
  source: 'Endpoint Picker Protocol: destination; Envoy override_host',
  async run({ requests, playAll, fleet }, findings) {
    const { endpoints } = await fleet();
    const ordinary = Array.from({ length: 16 }, () => requests.plan('an ordinary request'));
    // So that one which is seldom picked shows its spelling, too.
    const each = endpoints.map((it) =>
      requests.plan(`a subset of ${it}`, { metadata: { [SUBSET_NAMESPACE]: { [SUBSET]: [it] } } }),
    );
    const outcomes = await playAll([...ordinary, ...each]);
    const lists = new Set(outcomes.flatMap(({ named }) => named));
    if (lists.size === 0) {
      findings.unjudged('an ordinary request', 'the picker names no endpoint');
      return;
    }
    for (const entry of lists) {
      findings.expect(isEndpoint(entry), `destination ${entry}`, 'ip:port, [ipv6]:port in the shortest form', entry);
    }
  },
};
