import { createServer, type Server, type Socket } from 'node:net';
import type { KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { clusterOf, type StandInCluster, startStandIn } from '../../../test/support/kube/cluster.ts';
import { NAMESPACE } from '../../../test/support/kube/pod-log.ts';
import { until } from '../../../test/support/until.ts';
import { KubePodApi, type KubePodApiOptions } from './kube-pod-api.ts';
import { readPod } from './pod.ts';
import type { WatchEnd, WatchEvent } from './pod-api.ts';

let cluster: StandInCluster;
let mute: Server;
const mutes = new Set<Socket>();
beforeAll(async () => {
  cluster = await startStandIn();
  mute = createServer((socket) => {
    mutes.add(socket);
    socket.resume();
    socket.on('error', () => {});
    socket.on('close', () => mutes.delete(socket));
  });
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await cluster.close();
  await new Promise((resolve) => mute.close(resolve));
});
beforeEach(() => {
  cluster.server.refuseWith = null;
  cluster.server.goneAs = 'event';
});

const never = new AbortController().signal;

function apiOf(change: Partial<KubePodApiOptions> = {}) {
  return new KubePodApi({
    cluster: () => clusterOf(cluster.kubeconfig),
    namespace: NAMESPACE,
    labelSelector: 'app=engine',
    ...change,
  });
}

/** That of the test, with another server, authority or user. */
function changed(change: { server?: string; caData?: string; token?: string }): () => KubeConfig {
  return () => {
    const config = clusterOf(cluster.kubeconfig);
    const { token, ...others } = change;
    config.clusters = config.clusters.map((each) => ({ ...each, ...others }));
    if (token !== undefined) config.users = config.users.map((each) => ({ ...each, token }));
    return config;
  };
}

function toMute(): () => KubeConfig {
  const address = mute.address();
  return changed({ server: `https://127.0.0.1:${typeof address === 'object' ? address?.port : 0}` });
}

function watch(api: KubePodApi, version = cluster.server.log.version, wanted = () => true) {
  const events: WatchEvent[] = [];
  const abort = new AbortController();
  let open = false;
  const end: Promise<WatchEnd> = api.watch(
    String(version),
    {
      opened: () => {
        open = true;
      },
      event: (event) => {
        events.push(event);
        return wanted();
      },
    },
    abort.signal,
  );
  return { events, end, abort, opened: () => until(() => open, 'the watch is open') };
}

const unconnected = () => until(async () => (await cluster.server.connections()) === 0, 'no connection is left');

describe('the API of pods by the client of Kubernetes', () => {
  it.each(['event', 'status'] as const)('knows a version that is gone, told as %s', async (how) => {
    cluster.server.goneAs = how;
    cluster.server.log.expire();

    expect(await watch(apiOf(), 1).end).toEqual({ kind: 'gone' });
  });

  it('knows a list whose pages are gone', async () => {
    cluster.server.log.expire();
    expect(await apiOf().list('1+1', true, never)).toEqual({ kind: 'gone' });
  });

  it('reads a pod of the list as one of the watch', async () => {
    const { log } = cluster.server;
    const { version } = log;
    const labels = { app: 'engine', 'example.com/odd key': 'x' };
    log.create({ name: 'a', labels, annotations: { b: 'c' }, ip: '10.0.0.1', ready: true, ports: { http: 80 } });
    log.terminate('a');

    const { events, end } = watch(apiOf(), version, () => events.length < 2);
    expect(await end).toEqual({ kind: 'ended' });
    const list = await apiOf().list('', true, never);
    log.remove('a');

    const [pod] = list.kind === 'page' ? list.items.map(readPod) : [];
    expect(pod).toMatchObject({ name: 'a', terminating: true, ready: true, labels, ports: { http: 80 } });
    expect(readPod(events[1]?.object)).toEqual(pod);
  });

  it.each([
    [403, 'Forbidden'],
    [404, 'Not Found'],
    [429, 'Too Many Requests'],
    [500, 'Internal Server Error'],
    [503, 'Service Unavailable'],
  ])('tells what the server says with %i: of a watch only its status', async (code, status) => {
    cluster.server.refuseWith = code;
    const failure = (text: string) => ({ kind: 'failed', problem: `the API server answered ${code}: ${text}` });
    expect(await apiOf().list('', true, never)).toEqual(failure('refused by the test'));
    expect(await watch(apiOf()).end).toEqual(failure(status));
  });

  it('refuses a server whose certificate it does not know', async () => {
    const failure = {
      kind: 'failed',
      problem: expect.stringMatching(/^the API server cannot be asked: .*self-signed certificate/),
    };
    const caData = Buffer.from(cluster.server.clientCertificate.cert).toString('base64');
    expect(await apiOf({ cluster: changed({ caData }) }).list('', true, never)).toMatchObject(failure);
    expect(await watch(apiOf({ cluster: changed({ caData }) })).end).toMatchObject(failure);
  });

  it('passes bookmarks on, and ends as the server ends', async () => {
    const { events, end, opened } = watch(apiOf());
    await opened();
    cluster.server.bookmark();
    await until(() => events.length === 1, 'the bookmark is there');
    cluster.server.endWatches();

    expect(await end).toEqual({ kind: 'ended' });
    expect(events).toMatchObject([
      { type: 'BOOKMARK', object: { metadata: { resourceVersion: String(cluster.server.log.version) } } },
    ]);
  });

  it('tells a connection that broke from one that ended', async () => {
    const { end, opened } = watch(apiOf());
    await opened();
    cluster.cut();
    expect(await end).toMatchObject({ kind: 'failed' });
  });

  it.each([
    ['silent', ''],
    ['no JSON', 'nonsense\n'],
    ['HTML of a proxy', '<html>\n'],
    ['a line without an end', 'x'],
  ])('gives a stream up that is %s', async (_, text) => {
    const { end, opened } = watch(apiOf({ silenceMs: 100 }));
    await opened();
    for (let part = 0; part < 3; part++) cluster.server.raw(text);
    expect(await end).toMatchObject({ kind: 'failed', problem: expect.stringMatching(/silent/) });
    await unconnected();
  });

  it('holds a connection for as long as bookmarks come', async () => {
    const { end, events, opened } = watch(apiOf({ silenceMs: 200, answerMs: 100 }));
    await opened();
    const beat = setInterval(() => cluster.server.bookmark(), 20);
    await until(() => events.length >= 20, 'it lasts for twice the silence');
    clearInterval(beat);
    expect(await end).toMatchObject({ kind: 'failed', problem: expect.stringMatching(/silent/) });
  });

  it('gives a server up that does not answer', async () => {
    const api = apiOf({ answerMs: 50, cluster: toMute() });
    const failure = { kind: 'failed', problem: 'the API server cannot be asked: no answer in time' };

    expect(await api.list('', true, never)).toEqual(failure);
    expect(await watch(api).end).toEqual(failure);
    await until(() => mutes.size === 0, 'no connection is left');
  });

  it.each([
    ['before it is answered', () => apiOf({ cluster: toMute() }), () => until(() => mutes.size > 0, 'it is asked')],
    ['at once', () => apiOf(), async () => {}],
  ])('ends with its abort %s, and its connection with it', async (_, api, asked) => {
    const { end, abort } = watch(api());
    await asked();
    abort.abort();
    expect((await end).kind).toBe('failed');
    await until(() => mutes.size === 0, 'no connection is left');
    await unconnected();
  });

  it('ends with its abort in mid air, and so does a list; nothing is left of them', async () => {
    const { end, abort, opened, events } = watch(apiOf());
    await opened();
    abort.abort();
    expect((await end).kind).toBe('failed');
    cluster.server.bookmark();
    await unconnected();
    expect(events).toEqual([]);

    const listing = new AbortController();
    const list = apiOf({ cluster: toMute() }).list('', true, listing.signal);
    await until(() => mutes.size > 0, 'it is asked');
    listing.abort();
    expect((await list).kind).toBe('failed');
    await until(() => mutes.size === 0, 'no connection is left');
  });

  it('leaves no connection behind in many watches', async () => {
    const api = apiOf();
    for (let round = 0; round < 30; round++) {
      const { end, abort, opened } = watch(api);
      if (round % 2 === 0) await opened();
      abort.abort();
      await end;
    }
    await unconnected();
  });

  it('looks for the cluster again after it was lost, or refused who asked, and then only', async () => {
    let lookups = 0;
    const steps = [
      () => {
        throw new Error('no cluster');
      },
      changed({ token: 'old' }),
      () => clusterOf(cluster.kubeconfig),
    ];
    const api = apiOf({ cluster: () => steps[lookups++]!() });

    const failed = (what: string) => ({ kind: 'failed', problem: `the API server ${what}` });
    expect(await api.list('', true, never)).toEqual(failed('cannot be asked: no cluster'));
    expect(await api.list('', true, never)).toEqual(failed('answered 401: Unauthorized'));
    expect(await api.list('', true, never)).toMatchObject({ kind: 'page' });
    cluster.server.refuseWith = 500;
    expect(await api.list('', true, never)).toEqual(failed('answered 500: refused by the test'));
    cluster.server.refuseWith = null;
    expect(await api.list('', true, never)).toMatchObject({ kind: 'page' });
    expect(lookups).toBe(3);
  });

  it('never shows a token, not even one that no header can hold', async () => {
    const api = apiOf({ cluster: changed({ token: 'secret\n' }) });
    for (const { problem } of [await api.list('', true, never), await watch(api).end] as { problem: string }[]) {
      expect(problem).toMatch(/not a legal HTTP header value/);
      expect(problem).not.toContain('secret');
    }
  });
});
