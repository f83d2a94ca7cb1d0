import type { Config } from '../bootstrap/typed.ts';
import { CONTROL_HEADERS } from '../names.ts';
import { type Manifest, manifest, NAME } from './manifest.ts';
import type { GatewayOptions } from './options.ts';

export const GATEWAY_API = 'gateway.networking.k8s.io';

/** The Gateway API's route to the workers. `backend` refers to them. */
export function httpRoute(options: GatewayOptions, about: string, backend: Config): Manifest {
  const { gateway, workload, envoy } = options;
  return manifest(`${GATEWAY_API}/v1`, 'HTTPRoute', { ...workload, name: NAME }, about, {
    spec: {
      parentRefs: [gateway],
      rules: [
        {
          matches: [{ path: { type: 'PathPrefix', value: '/v1/' } }],
          '# filters': [
            'Workers never see them, also while the service is away. The destination header is not among them: removed here,',
            'it would be gone before a worker is chosen by it.',
          ].join('\n'),
          filters: [{ type: 'RequestHeaderModifier', requestHeaderModifier: { remove: [...CONTROL_HEADERS] } }],
          '# timeouts': 'generations take long; 0s is no limit',
          timeouts: { request: duration((envoy.requestTimeoutSecs ?? 0) * 1000) },
          backendRefs: [backend],
        },
      ],
    },
  });
}

/** A duration of the Gateway API: whole units of up to five digits, 99999 hours at most. */
export function duration(ms: number): string {
  const parts: string[] = [];
  let left = Math.ceil(ms);
  for (const [unit, size] of UNITS) {
    const count = Math.floor(left / size);
    left %= size;
    if (count > 0) parts.push(`${Math.min(count, 99_999)}${unit}`);
  }
  return parts.join('') || '0s';
}

const UNITS: readonly (readonly [string, number])[] = [
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
];
