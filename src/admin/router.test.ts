import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AdminBench, expectError } from '../../test/support/admin-bench.ts';
import { ask } from '../../test/support/http.ts';
import { createMetricsApp } from './admin-app.ts';
import { listenAdmin } from './listen-admin.ts';

const A = 'http://127.0.0.1:8000';

let bench: AdminBench;

beforeEach(async () => {
  bench = await new AdminBench().open();
});
afterEach(() => bench.close());

describe('decisions 41 errors', () => {
  it.each(['/nowhere', '/workers/', '/workers/a/b', '/v1', '//'])('GET %s is 404', async (path) => {
    expectError(await bench.ask('GET', path), 404, 'not_found', 'Not Found');
  });

  it.each([
    ['POST', '/health', 'GET, HEAD'],
    ['DELETE', '/workers', 'GET, HEAD, POST'],
    ['POST', '/workers/x', 'GET, HEAD, PUT, PATCH, DELETE'],
    ['GET', '/workers/x/drain', 'POST'],
    ['OPTIONS', '/metrics', 'GET, HEAD'],
    ['PUT', '/', 'GET, HEAD'],
  ])('%s %s is 405 and allows %s', async (method, path, allow) => {
    const answer = await bench.ask(method, path);

    expectError(answer, 405, 'method_not_allowed', 'Method Not Allowed');
    expect(answer.headers.get('allow')).toBe(allow);
  });

  it.each(['/workers', '/metrics', '/health', '/'])('HEAD %s answers like GET without a body', async (path) => {
    const head = await bench.ask('HEAD', path);
    const get = await bench.ask('GET', path);

    expect([head.status, head.text]).toEqual([get.status, '']);
    expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'));
  });

  it('HEAD of a route without GET is 405', async () => {
    expect((await bench.ask('HEAD', '/workers/x/drain')).status).toBe(405);
  });

  const padded = (bytes: number) => {
    const body = JSON.stringify({ url: A });
    return body + ' '.repeat(bytes - body.length);
  };

  it('a body of exactly 1 MiB is read', async () => {
    expect((await bench.ask('POST', '/workers', padded(1024 * 1024))).status).toBe(202);
  });

  it.each(['POST /workers', 'PUT /workers/x', 'POST /workers/x/drain', 'POST /nowhere'])(
    '%s with a larger body is 413',
    async (route) => {
      const [method = '', path = ''] = route.split(' ');

      expectError(
        await bench.ask(method, path, padded(1024 * 1024 + 1)),
        413,
        'request_body_too_large',
        'Payload Too Large',
      );
    },
  );

  it('a larger body of undeclared length is 413', async () => {
    const chunk = Buffer.alloc(65_536, ' ');
    let sent = 0;
    const body = new ReadableStream({
      pull(controller) {
        sent += chunk.length;
        controller.enqueue(chunk);
        if (sent > 2 * 1024 * 1024) controller.close();
      },
    });

    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body, duplex: 'half' };
    const response = await fetch(`${bench.base}/workers`, init as RequestInit);

    expect([response.status, response.headers.get('x-smg-error-code')]).toEqual([413, 'request_body_too_large']);
  });

  it('a fault of the service is 500, is logged, and tells nothing', async () => {
    await bench.open({
      config: () => {
        throw new Error('inner workings');
      },
    });

    const answer = await bench.ask('GET', '/config');

    expectError(answer, 500, 'internal_error', 'Internal Server Error');
    expect(answer.text).not.toContain('inner workings');
    expect(JSON.parse(bench.logged[0]!)).toMatchObject({
      level: 'error',
      error: { message: 'inner workings' },
      path: '/config',
    });
  });
});

describe('access with --control-plane-api-keys', () => {
  const keys = [
    { id: 'ops', name: 'Ops', role: 'admin', key: 'adm:in-key' },
    { id: 'view', name: 'View', role: 'user', key: 'user-key' },
  ] as const;
  const callers = {
    nobody: {},
    'a wrong key': { authorization: 'Bearer user-kez' },
    'another scheme': { authorization: 'Basic user-key' },
    'an empty key': { authorization: 'Bearer ' },
    user: { authorization: 'Bearer user-key' },
    admin: { authorization: 'bearer adm:in-key' },
  } as const;
  const open = ['GET /health', 'GET /liveness', 'GET /readiness'];
  const reads = [
    'GET /workers',
    'GET /workers/x',
    'GET /metrics',
    'GET /v1/models',
    'GET /config',
    'GET /dashboard/overview',
  ];
  const changes = [
    'POST /workers',
    'PUT /workers/x',
    'PATCH /workers/x',
    'DELETE /workers/x',
    'POST /workers/x/drain',
    'POST /workers/x/undrain',
  ];
  const allowed = (caller: string, route: string) =>
    open.includes(route) || caller === 'admin' || (caller === 'user' && reads.includes(route));

  const matrix = Object.keys(callers).flatMap((caller) =>
    [...open, ...reads, ...changes].map((route) => [caller as keyof typeof callers, route] as const),
  );

  it.each(matrix)('%s: %s', async (caller, route) => {
    await bench.open({ keys });
    const [method = '', path = ''] = route.split(' ');

    const answer = await bench.ask(method, path, method === 'GET' ? undefined : {}, callers[caller]);

    if (allowed(caller, route)) expect([401, 403]).not.toContain(answer.status);
    else if (caller === 'user') expectError(answer, 403, 'forbidden', 'Forbidden');
    else {
      expectError(answer, 401, 'unauthorized', 'Unauthorized');
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
  });

  it('a change is logged with the id of the key, never the key', async () => {
    await bench.open({ keys });

    await bench.ask('POST', '/workers', { url: A }, callers.admin);

    expect(JSON.parse(bench.logged[0]!)).toMatchObject({ actor: 'ops' });
    expect(bench.logged.join()).not.toContain('adm:in-key');
  });
});

describe('pages of other origins', () => {
  it.each([
    ['http://evil.example', 403],
    ['null', 403],
    ['OWN', 202],
  ])('a change with origin %s is %d', async (origin, status) => {
    const headers = { origin: origin === 'OWN' ? bench.base : origin };

    expect((await bench.ask('POST', '/workers', { url: A }, headers)).status).toBe(status);
    expect((await bench.ask('GET', '/workers', undefined, headers)).status).toBe(200);
  });

  it.each([
    ['a name that leads here', 'evil.example', 403],
    ['localhost', 'localhost', 202],
    ['an IPv6 address', '[::1]', 202],
  ])('a change by a page of %s has gives %s', async (_page, host, status) => {
    const port = bench.address.split(':').at(-1);
    const authority = `${host}:${port}`;
    const headers = { host: authority, origin: `http://${authority}`, 'content-type': 'application/json' };

    const answer = await ask(bench.base, {
      method: 'POST',
      path: '/workers',
      headers,
      body: JSON.stringify({ url: A }),
    });

    expect(answer.status).toBe(status);
  });
});

describe('--prometheus-port', () => {
  it('serves the metrics and nothing else, without a key', async () => {
    await bench.serve(createMetricsApp(bench.parts()));

    expect((await bench.ask('GET', '/metrics')).text).toContain('smg_manual_policy_branch_total');
    for (const path of ['/', '/health', '/workers', '/config']) {
      expectError(await bench.ask('GET', path), 404, 'not_found', 'Not Found');
    }
    expect((await bench.ask('POST', '/metrics')).status).toBe(405);
  });
});

describe('the listener', () => {
  it('names IPv6 addresses in brackets', async () => {
    await bench.serve(createMetricsApp(bench.parts()), '::1');

    expect(bench.address).toMatch(/^\[::1\]:\d+$/);
    expect((await bench.ask('GET', '/metrics')).status).toBe(200);
  });

  it('rejects a port that is taken, by name', async () => {
    const port = Number(bench.address.split(':')[1]);

    await expect(listenAdmin(createMetricsApp(bench.parts()), '127.0.0.1', port)).rejects.toMatchObject({
      code: 'address_in_use',
      message: expect.stringContaining(String(port)),
    });
  });

  it('closes although clients keep their connections', async () => {
    await bench.ask('GET', '/liveness');
    const { base } = bench;

    await bench.close();

    await expect(fetch(`${base}/liveness`)).rejects.toThrow();
  });
});
