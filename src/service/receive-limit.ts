import type { Settings } from '../config/load-settings.ts';

/** Margin of the gRPC receive limit over the largest body that Envoy keeps (envoy 13.2). */
const MARGIN_BYTES = 4 * 1024 * 1024;

/** Largest gRPC message that the service takes. */
export function receiveLimitBytes({ envoyBodyLimit, maxPayloadSize }: Settings): number {
  return Math.max(envoyBodyLimit, maxPayloadSize) + MARGIN_BYTES;
}
