import { afterEach, describe, expect, it } from 'vitest';
import { ask } from '../../test/support/http.ts';
import { StubWorker } from '../../test/support/stub-worker.ts';
import { load } from '../../test/support/try-load.ts';
import { until } from '../../test/support/until.ts';
import { startSim } from '../sim/start-sim.ts';
import { startService } from './start-service.ts';

const cleanUp: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const each of cleanUp.splice(0).reverse()) await each();
});

async function serve(urls: readonly string[], more = '') {
  const flags = flagsFor(urls, more);
  const service = await startService(load({ flags }), { version: 'test' });
  cleanUp.push(() => service.close());
  return service;
}

function flagsFor(urls: readonly string[], more: string): string {
  return `--grpc-port 0 --admin-port 0 --log-level error --worker-urls ${urls.join(' ')} ${more}`;
}

describe('interface 3 the open gRPC port', () => {
  it('means that the workers named at start are known, so that no request is refused for want of them', async () => {
    const sim = await startSim();
    cleanUp.push(() => sim.close());

    const service = await serve(sim.urls);

    const { status, json } = await ask(`http://${service.adminAddress}`, { path: '/readiness' });
    expect(status).toBe(200);
    expect(json).toMatchObject({ healthy_workers: 3, total_workers: 3 });
  });

  it('does not wait for a worker that is down', async () => {
    const service = await serve(['http://127.0.0.1:1']);

    const { status, json } = await ask(`http://${service.adminAddress}`, { path: '/readiness' });
    expect(status).toBe(503);
    expect(json).toMatchObject({ reason: 'no_ready_worker', total_workers: 1 });
  });
});

describe('decisions 10 load reports', () => {
  it('are asked for as long as a policy looks at them, also after a reload', async () => {
    const sim = await startSim({ waiting: 7 });
    cleanUp.push(() => sim.close());
    const service = await serve(sim.urls, '--policy round_robin');
    const admin = `http://${service.adminAddress}`;
    const waiting = async () => (await ask(admin, { path: '/get_loads' })).json.aggregate.total_waiting_reqs;
    const polls = async () => {
      const { text } = await ask(admin, { path: '/metrics' });
      return Number(/^smg_envoy_load_polls_total\{result="report"\} (\d+)$/m.exec(text)?.[1]);
    };
    expect([await waiting(), await polls()]).toEqual([0, 0]);

    service.apply(load({ flags: flagsFor(sim.urls, '--policy least_load') }));
    await until(async () => (await waiting()) === 21, 'three reports');

    service.apply(load({ flags: flagsFor(sim.urls, '--policy round_robin') }));
    expect(await waiting()).toBe(0);
  });

  it('are asked for no more once the service is closed', async () => {
    const worker = await StubWorker.start();
    cleanUp.push(() => worker.dies());
    worker.health = (_, response) => response.writeHead(200).end('{"loads":[{}]}');
    const service = await serve([worker.url], '--policy least_load --load-monitor-interval 1');
    await until(() => worker.asked.some((path) => path.startsWith('/loads')), 'a question for the load');

    await service.close();

    // A kept connection outlives a monitor that goes on asking.
    await until(() => worker.connections === 0, 'no connection is left', 4_000);
  });
});

describe('interface 9 the stream of decisions', () => {
  it('ends with the service, which does not wait for its readers', async () => {
    const service = await serve(['http://127.0.0.1:1']);
    const { body } = await fetch(`http://${service.adminAddress}/decisions/stream`);
    const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader.read()).value).toContain('event: recording');

    const drained = service.drain();
    let text = '';
    for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;

    expect(text.endsWith('event: end\ndata: {"reason":"draining"}\n\n')).toBe(true);
    await drained;
  });
});

describe('decisions 10 the dashboard', () => {
  it('has loads asked for while somebody looks, though no policy needs them', async () => {
    const sim = await startSim({ waiting: 7 });
    cleanUp.push(() => sim.close());
    const service = await serve(sim.urls, '--policy round_robin');
    const admin = `http://${service.adminAddress}`;
    const waiting = async () => (await ask(admin, { path: '/get_loads' })).json.aggregate.total_waiting_reqs;
    expect(await waiting()).toBe(0);

    const { status } = await ask(admin, { path: '/dashboard/overview' });

    expect(status).toBe(200);
    await until(async () => (await waiting()) === 21, 'three reports');
  });
});
