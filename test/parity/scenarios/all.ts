import type { Scenario } from '../scenario.ts';
import { cacheLoad } from './cache-load.ts';
import { compat } from './compat.ts';
import { engineLoad } from './engine-load.ts';
import { failover } from './failover.ts';
import { keyRules } from './key-rules.ts';
import { matrix } from './matrix.ts';
import { modes } from './modes.ts';
import { prompts } from './prompts.ts';
import { protections } from './protections.ts';
import { retries } from './retries.ts';
import { surface } from './surface.ts';
import { targetWorker } from './target-worker.ts';

export const ALL_SCENARIOS: readonly Scenario[] = [
  ...matrix,
  ...keyRules,
  ...targetWorker,
  ...failover,
  ...modes,
  ...retries,
  ...engineLoad,
  ...protections,
  ...prompts,
  ...cacheLoad,
  ...compat,
  ...surface,
];
