import { configSchema } from '../config/config-schema.ts';
import { flagsReference } from '../config/flags-reference.ts';
import { trapsReference } from '../envoy/check/traps-reference.ts';
import { errorsReference } from '../util/errors-reference.ts';
import { workerSchema } from '../workers/worker-spec.ts';

/** Documents that are made from the code: path in the repository, and text. */
export function referenceFiles(): ReadonlyMap<string, string> {
  return new Map([
    ['docs/config.schema.json', `${JSON.stringify(configSchema(workerSchema), null, 2)}\n`],
    ['docs/reference/flags.md', flagsReference()],
    ['docs/reference/envoy-checks.md', trapsReference()],
    ['docs/errors.md', errorsReference()],
  ]);
}
