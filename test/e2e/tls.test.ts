import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Authority } from '../support/authority.ts';
import { MODEL } from '../support/bodies.ts';
import { startEnvoy } from '../support/envoy.ts';
import { freePort } from '../support/ports.ts';
import { type Answer, ask, noEnvoy, until } from '../support/services.ts';
import { envoyConfig, type Stack, startStack } from '../support/stack.ts';

const ROUTED = 'x-smg-routed-worker-id';
const FAILURES = 'smg_envoy_tls_handshake_failures_total';

describe.skipIf(noEnvoy()).each(['http2', 'grpc-js'])(
  'TLS with client certificates on the gRPC port, by %s',
  (transport) => {
    let ours: Authority;
    let stranger: Authority;
    let stack: Stack;
    let settings: readonly string[];
    const trust = (): string[] => ['--tls', '--picker-ca-path', ours.path];

    beforeAll(async () => {
      ours = new Authority();
      stranger = new Authority();
      const own = ours.issue('picker');
      const envoy = ours.issue('envoy');
      settings = [
        ...['--policy', 'round_robin', '--routing-key-override', '--transport', transport],
        ...['--tls-cert-path', own.cert, '--tls-key-path', own.key, '--tls-client-ca-path', ours.path],
      ];
      const client = ['--picker-client-cert-path', envoy.cert, '--picker-client-key-path', envoy.key];
      const envoyFlags = [...trust(), ...client, '--picker-secrets-dir', ours.folder];
      for (const kind of ['client', 'ca']) {
        const text = await envoyConfig([...settings, ...envoyFlags, '--picker-secret', kind]);
        writeFileSync(join(ours.folder, `smg-envoy-${kind}.yaml`), text);
      }
      stack = await startStack({ flags: settings, envoyFlags });
    });
    afterAll(async () => {
      await stack?.close();
      ours?.close();
      stranger?.close();
    });

    const send = (url = stack.url): Promise<Answer> =>
      ask(url, { path: '/v1/chat/completions', method: 'POST', body: { model: MODEL, rid: 'key_t1' } });

    it('Envoy with its certificate gets picks, endpoints and health, and logs request ends', async () => {
      const answer = await send();

      expect(answer.status).toBe(200);
      expect(stack.sim.urls).toContain(answer.headers[ROUTED]);
      await until(async () => {
        const metrics = await stack.service.metrics();
        return metrics.sum('smg_envoy_access_log_streams') > 0 && metrics.sum('smg_envoy_picks_in_flight') === 0;
      }, 'the end of the request is logged');
      expect(await stack.envoyStat('cluster.picker.health_check.failure')).toBe(0);
    });

    it.each([
      ['no certificate', 'no_certificate', (): string[] => []],
      [
        'a certificate of another authority',
        'untrusted',
        (): string[] => {
          const { cert, key } = stranger.issue('envoy');
          return ['--picker-client-cert-path', cert, '--picker-client-key-path', key];
        },
      ],
    ])('Envoy with %s is refused, and places requests itself', async (_name, reason, flags) => {
      const before = (await stack.service.metrics()).sum(FAILURES, { reason });
      const listen = ['--listen', `127.0.0.1:${await freePort()}`, '--admin-listen', `127.0.0.1:${await freePort()}`];
      const workers = ['--static-workers', '--worker-urls', ...stack.sim.urls];
      const at = ['--grpc-port', String(stack.service.grpcPort), '--disable-health-check'];
      const envoy = await startEnvoy(
        await envoyConfig([...settings, ...at, ...listen, ...workers, ...trust(), ...flags()]),
      );
      try {
        const answer = await send(envoy.url);

        expect(answer.status).toBe(200);
        await until(
          async () => (await stack.service.metrics()).sum(FAILURES, { reason }) > before,
          'the refusal is counted',
        );
      } finally {
        await envoy.stop();
      }
    });

    it('both certificates are replaced under load, and no request is lost', async () => {
      const answers: Answer[] = [];
      let over = false;
      const load = Array.from({ length: 4 }, async () => {
        while (!over) answers.push(await send());
      });
      const update = 'cluster.picker.client_ssl_socket_factory.ssl_context_update_by_sds';
      try {
        for (let round = 1; round <= 3; round += 1) {
          const updates = await stack.envoyStat(update);
          const { cert } = ours.issue('picker');
          ours.issue('envoy');
          const wanted = new X509Certificate(readFileSync(cert)).serialNumber;
          await until(async () => (await shownSerial(stack.service.grpcPort, ours)) === wanted, 'our new certificate');
          await until(async () => (await stack.envoyStat(update)) > updates, "Envoy's new certificate");
          const count = answers.length;
          await until(() => answers.length > count + 20, 'requests with both');
        }
      } finally {
        over = true;
        await Promise.all(load);
      }

      expect(answers.filter(({ status, headers }) => status !== 200 || headers[ROUTED] === undefined)).toEqual([]);
      expect(answers.length).toBeGreaterThan(60);
      expect(
        (await stack.service.metrics()).sum('smg_envoy_tls_reloads_total', { result: 'ok' }),
      ).toBeGreaterThanOrEqual(3);
    });
  },
);

/** Serial number of the certificate at the port. */
function shownSerial(port: number, authority: Authority): Promise<string> {
  const { cert, key } = authority.files('envoy');
  return new Promise((resolve, reject) => {
    const files = { ca: readFileSync(authority.path), cert: readFileSync(cert), key: readFileSync(key) };
    const socket = connect({ host: '127.0.0.1', port, ...files, ALPNProtocols: ['h2'] }, () => {
      resolve(socket.getPeerX509Certificate()?.serialNumber ?? '');
      socket.destroy();
    });
    socket.once('error', reject);
  });
}
