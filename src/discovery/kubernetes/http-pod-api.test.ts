import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type StandInCluster, startStandIn } from '../../../test/support/kube/cluster.ts';
import { NAMESPACE } from '../../../test/support/kube/pod-log.ts';
import { until } from '../../../test/support/until.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { HttpPodApi, type HttpPodApiOptions } from './http-pod-api.ts';
import { kubeconfigAccess } from './kubeconfig.ts';
import type { WatchEnd, WatchEvent } from './pod-api.ts';

let cluster: StandInCluster;
beforeAll(async () => {
  cluster = await startStandIn();
});
afterAll(() => cluster.close());
beforeEach(() => {
  cluster.server.refuseWith = null;
  cluster.server.goneAs = 'event';
});

const never = new AbortController().signal;

function apiOf(change: Partial<HttpPodApiOptions> & { tweak?: (access: ClusterAccess) => ClusterAccess } = {}) {
  const { tweak = (access) => access, ...options } = change;
  return new HttpPodApi({
    access: async () => tweak(await kubeconfigAccess(cluster.kubeconfig)),
    namespace: NAMESPACE,
    labelSelector: 'app=engine',
    ...options,
  });
}

function watch(api: HttpPodApi, version = cluster.server.log.version) {
  const events: WatchEvent[] = [];
  const abort = new AbortController();
  let open = false;
  const end: Promise<WatchEnd> = api.watch(
    String(version),
    {
      opened: () => {
        open = true;
      },
      event: (event) => events.push(event) > 0,
    },
    abort.signal,
  );
  return { events, end, abort, opened: () => until(() => open, 'the watch is open') };
}

describe('the API of pods over HTTP', () => {
  it.each(['event', 'status'] as const)('knows a version that is gone, told as %s', async (how) => {
    cluster.server.goneAs = how;
    cluster.server.log.expire();

    expect(await watch(apiOf(), 1).end).toEqual({ kind: 'gone' });
  });

  it('knows a list whose pages are gone', async () => {
    cluster.server.log.expire();
    expect(await apiOf().list('1+1', true, never)).toEqual({ kind: 'gone' });
  });

  it.each([403, 404, 429, 500, 503])('tells what the server says with %i', async (code) => {
    cluster.server.refuseWith = code;
    const failure = { kind: 'failed', problem: `the API server answered ${code}: refused by the test` };
    expect(await apiOf().list('', true, never)).toEqual(failure);
    expect(await watch(apiOf()).end).toEqual(failure);
  });

  it('throws credentials away that are refused', async () => {
    let refused = 0;
    const api = apiOf({
      tweak: (access) => ({
        ...access,
        credentials: async () => ({ token: 'old', cert: null, key: null }),
        refused: () => {
          refused += 1;
        },
      }),
    });

    expect(await api.list('', true, never)).toMatchObject({ kind: 'failed', problem: expect.stringContaining('401') });
    expect(refused).toBe(1);
  });

  it('refuses a server whose certificate it does not know', async () => {
    const api = apiOf({ tweak: (access) => ({ ...access, ca: async () => null }) });
    expect(await api.list('', true, never)).toMatchObject({
      kind: 'failed',
      problem: expect.stringMatching(/^the API server cannot be asked: .*self-signed certificate/),
    });
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

  it.each([
    ['no JSON', 'nonsense\n'],
    ['HTML of a proxy', '<html>\n'],
  ])('gives a stream up that is %s', async (_, text) => {
    const { end, opened } = watch(apiOf());
    await opened();
    cluster.server.raw(text);
    expect(await end).toMatchObject({ kind: 'failed', problem: expect.stringMatching(/JSON/) });
  });

  it('gives a stream up whose line has no end', async () => {
    const { end, opened } = watch(apiOf());
    await opened();
    for (let part = 0; part < 17; part++) cluster.server.raw('x'.repeat(1024 * 1024));
    expect(await end).toMatchObject({ kind: 'failed', problem: expect.stringMatching(/too long/) });
  });

  it('gives a connection up that has gone silent', async () => {
    const { end } = watch(apiOf({ silenceMs: 50 }));
    expect(await end).toMatchObject({ kind: 'failed', problem: expect.stringMatching(/silent/) });
  });

  it('gives a server up that does not answer', async () => {
    const { createServer } = await import('node:net');
    const mute = createServer((socket) => socket.resume());
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    const address = mute.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const api = apiOf({
      answerMs: 50,
      tweak: (access) => ({ ...access, server: new URL(`http://127.0.0.1:${port}`) }),
    });

    expect(await api.list('', true, never)).toMatchObject({ kind: 'failed' });
    await new Promise((resolve) => mute.close(resolve));
  });

  it('ends with its abort', async () => {
    const { end, abort, opened } = watch(apiOf());
    await opened();
    abort.abort();
    expect((await end).kind).toBe('failed');
  });

  it('looks for the cluster again after it was lost', async () => {
    let lookups = 0;
    const api = new HttpPodApi({
      access: async () => {
        lookups += 1;
        if (lookups === 1) throw new Error('no cluster');
        return kubeconfigAccess(cluster.kubeconfig);
      },
      namespace: null,
      labelSelector: '',
    });

    expect(await api.list('', true, never)).toEqual({
      kind: 'failed',
      problem: 'the API server cannot be asked: no cluster',
    });
    expect(await api.list('', true, never)).toMatchObject({ kind: 'page' });
    expect(await api.list('', true, never)).toMatchObject({ kind: 'page' });
    expect(lookups).toBe(2);
  });
});
