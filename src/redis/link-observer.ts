import type { StoreState } from '../pins/shared/pin-backend.ts';
import type { StoreErrorReason } from './store-error.ts';

/** What the connection tells of itself, for metrics and the log. */
export interface LinkObserver {
  /** The first state is `down`, which is not told. */
  stateChanged(state: StoreState, previous: StoreState): void;
  /** Something is wrong with the store; told once until it is well again or something else is wrong. */
  troubled(reason: StoreErrorReason, message: string): void;
  /** A connection for commands is ready: the first one, or one more. */
  connected(): void;
  /** Changes of other replicas are heard from now on. */
  subscribed(): void;
  /** They are not heard. Told again with each attempt in vain, while the store answers otherwise. */
  unsubscribed(reason: StoreErrorReason, message: string): void;
  /** The store answered a probe. */
  probed(ms: number): void;
  /** A call or a connection failed. */
  failed(reason: StoreErrorReason): void;
  /** Changes may have been missed; what is known is compared with the store. */
  gap(): void;
}
