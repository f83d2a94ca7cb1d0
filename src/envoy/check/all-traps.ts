import type { Trap } from './trap.ts';
import { ACCESS_LOG_TRAPS } from './traps/access-log.ts';
import { BODY_LIMIT_TRAPS } from './traps/body-limit.ts';
import { CHAIN_TRAPS } from './traps/chain.ts';
import { DESTINATION_TRAPS } from './traps/destination.ts';
import { EXPOSURE_TRAPS } from './traps/exposure.ts';
import { EXT_AUTHZ_TRAPS } from './traps/ext-authz.ts';
import { LOCAL_REPLY_TRAPS } from './traps/local-replies.ts';
import { METADATA_TRAPS } from './traps/metadata.ts';
import { MODE_TRAPS } from './traps/modes.ts';
import { PICKER_CLUSTER_TRAPS } from './traps/picker-cluster.ts';
import { RETRY_TRAPS } from './traps/retries.ts';
import { RUNTIME_TRAPS } from './traps/runtime.ts';
import { STAMP_TRAPS } from './traps/stamp.ts';
import { STRICT_TARGET_TRAPS } from './traps/strict-target.ts';
import { TIME_TRAPS } from './traps/time.ts';
import { WORKER_TRAPS } from './traps/workers.ts';

/** All traps, by number. */
export const TRAPS: readonly Trap[] = [
  ...RUNTIME_TRAPS,
  ...MODE_TRAPS,
  ...BODY_LIMIT_TRAPS,
  ...METADATA_TRAPS,
  ...DESTINATION_TRAPS,
  ...STRICT_TARGET_TRAPS,
  ...PICKER_CLUSTER_TRAPS,
  ...TIME_TRAPS,
  ...RETRY_TRAPS,
  ...WORKER_TRAPS,
  ...STAMP_TRAPS,
  ...ACCESS_LOG_TRAPS,
  ...EXPOSURE_TRAPS,
  ...CHAIN_TRAPS,
  ...EXT_AUTHZ_TRAPS,
  ...LOCAL_REPLY_TRAPS,
].sort((a, b) => Number(a.id.slice(1)) - Number(b.id.slice(1)));
