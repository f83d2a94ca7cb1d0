import type { Given } from './given.ts';
import type { AnyKey, SettingValues } from './settings-table.ts';

/** Waiting requests and KV usage at which SMG 1.13 takes a worker out. */
const OVERLOAD_113 = { workerOverloadWaitingRequests: 8, workerOverloadTokenUsage: 0.8 } as const;

/**
 * Defaults that newer releases of SMG changed, for `--smg-compat` (decisions 33, smg-observed 2). Each holds only where its
 * own flag is not given; overload protection that was turned off stays off.
 */
export function compatDefaults(given: ReadonlyMap<AnyKey, Given>): Partial<SettingValues> {
  if (given.get('smgCompat')?.value !== '1.13') return {};
  const unprotected = given.get('workerOverloadProtection')?.value === false;
  return {
    routingKeyOrder: 'header-first',
    implicitKeys: ['x-forwarded-for', 'cookie'],
    ...(unprotected ? {} : { workerOverloadProtection: true, ...OVERLOAD_113 }),
  };
}
