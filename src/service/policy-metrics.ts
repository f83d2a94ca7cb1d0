import type { Policy } from '../routing/policy.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** Gauges of what the policies remember, read at each scrape: only those of the kinds of memory that there are. */
export function bindPolicyMetrics(metrics: Metrics, policies: { readonly all: readonly Policy[] }): void {
  const { cacheTreeChars, cacheTreeTokens, cacheTreeTenants, cachePlacementEntries } = metrics;
  const sizes = () => policies.all.flatMap(({ memory }) => memory?.sizes() ?? []);

  cacheTreeChars.onScrape(() => {
    cacheTreeChars.clear();
    for (const { model, chars } of sizes()) if (chars !== null) cacheTreeChars.cell(model).value += chars;
  });
  cacheTreeTokens.onScrape(() => {
    cacheTreeTokens.clear();
    for (const { model, tokens } of sizes()) if (tokens !== null) cacheTreeTokens.cell(model).value += tokens;
  });
  cacheTreeTenants.onScrape(() => {
    cacheTreeTenants.clear();
    for (const { model, textHolders, tokenHolders } of sizes()) {
      if (textHolders !== null) cacheTreeTenants.cell(model, 'string').value += textHolders;
      if (tokenHolders !== null) cacheTreeTenants.cell(model, 'token').value += tokenHolders;
    }
  });
  cachePlacementEntries.onScrape(() => {
    cachePlacementEntries.clear();
    for (const { model, placements } of sizes()) {
      if (placements !== null) cachePlacementEntries.cell(model).value += placements;
    }
  });
}
