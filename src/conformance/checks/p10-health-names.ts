import type { Check } from '../check.ts';
import type { HealthAnswer } from '../connection.ts';

const SERVING = 1;
const SERVICE_UNKNOWN = 3;
const NOT_FOUND = 5;
const UNIMPLEMENTED = 12;
const NAMES = ['liveness', 'readiness', 'envoy.service.ext_proc.v3.ExternalProcessor'];
const STATES = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];

/** P10: the three names of the health service, and nothing for a name that it does not know. */
export const healthNames: Check = {
  id: 'P10',
  title: 'Health service: liveness, readiness and the processor; NOT_FOUND for unknown names',
  source: 'gRPC health checking; names of the Gateway API Inference Extension',
  async run({ knowledge, connection: own, requests }, findings) {
    const connection = knowledge.health?.() ?? own;
    try {
      for (const name of NAMES) {
        const answer = await connection.check(name);
        findings.expect(answer.code === 0 && answer.serving === SERVING, `Check ${name}`, 'SERVING', shown(answer));
      }
      const unknown = `unknown-${requests.unique()}`;
      const check = await connection.check(unknown);
      findings.expect(check.code === NOT_FOUND, `Check ${unknown}`, 'gRPC status 5 (NOT_FOUND)', shown(check));
      const watch = await connection.watch(unknown);
      if (watch.code === UNIMPLEMENTED) return;
      const right = watch.code === 0 && watch.serving === SERVICE_UNKNOWN;
      findings.expect(right, `Watch ${unknown}`, 'SERVICE_UNKNOWN (or Watch UNIMPLEMENTED)', shown(watch));
    } finally {
      if (connection !== own) connection.close();
    }
  },
};

function shown({ code, serving }: HealthAnswer): string {
  return code === 0 && serving !== null ? (STATES[serving] ?? `status ${serving}`) : `gRPC status ${code}`;
}
