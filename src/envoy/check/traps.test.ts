import { describe, expect, it } from 'vitest';
import { TRAPS } from './all-traps.ts';
import { finds } from './trap-rows.suite.ts';
import { ACCESS_LOG_ROWS } from './traps/access-log.suite.ts';
import { BODY_LIMIT_ROWS } from './traps/body-limit.suite.ts';
import { CHAIN_ROWS } from './traps/chain.suite.ts';
import { DESTINATION_ROWS } from './traps/destination.suite.ts';
import { EXPOSURE_ROWS } from './traps/exposure.suite.ts';
import { EXT_AUTHZ_ROWS } from './traps/ext-authz.suite.ts';
import { LOCAL_REPLY_ROWS } from './traps/local-replies.suite.ts';
import { METADATA_ROWS } from './traps/metadata.suite.ts';
import { MODE_ROWS } from './traps/modes.suite.ts';
import { PICKER_CLUSTER_ROWS } from './traps/picker-cluster.suite.ts';
import { RETRY_ROWS } from './traps/retries.suite.ts';
import { RUNTIME_ROWS } from './traps/runtime.suite.ts';
import { STAMP_ROWS } from './traps/stamp.suite.ts';
import { STRICT_TARGET_ROWS } from './traps/strict-target.suite.ts';
import { TIME_ROWS } from './traps/time.suite.ts';
import { WORKER_ROWS } from './traps/workers.suite.ts';

describe('envoy 19: each flaw is found, and nothing else', () => {
  finds([
    ...ACCESS_LOG_ROWS,
    ...BODY_LIMIT_ROWS,
    ...CHAIN_ROWS,
    ...DESTINATION_ROWS,
    ...EXPOSURE_ROWS,
    ...EXT_AUTHZ_ROWS,
    ...LOCAL_REPLY_ROWS,
    ...METADATA_ROWS,
    ...MODE_ROWS,
    ...PICKER_CLUSTER_ROWS,
    ...RETRY_ROWS,
    ...RUNTIME_ROWS,
    ...STAMP_ROWS,
    ...STRICT_TARGET_ROWS,
    ...TIME_ROWS,
    ...WORKER_ROWS,
  ]);
});

it('all 85 traps are there (79 of envoy 19), once each and in order', () => {
  expect(TRAPS.map(({ id }) => id)).toEqual(Array.from({ length: 85 }, (_, i) => `T${i + 1}`));
});
