import type { LinkObserver } from '../../src/redis/link-observer.ts';

export const SILENT_LINK: LinkObserver = {
  stateChanged: () => {},
  troubled: () => {},
  connected: () => {},
  subscribed: () => {},
  unsubscribed: () => {},
  probed: () => {},
  failed: () => {},
  gap: () => {},
};
