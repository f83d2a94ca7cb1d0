import { describe, expect, it } from 'vitest';
import { readDeclaration, workersAt } from './name-pool.ts';

function poolOf(input: object) {
  const read = readDeclaration(input);
  if (read.kind !== 'pool') throw new Error(JSON.stringify(read));
  return read.pool;
}

describe('interface 6 dns+http', () => {
  it.each([
    ['dns+http://vllm.inference.svc:8000', 'dns+http://vllm.inference.svc:8000', 8000],
    ['dns+http://vllm/', 'dns+http://vllm', 80],
  ])('%s', (url, id, port) => {
    expect(poolOf({ url })).toMatchObject({ id, template: { url: { port } } });
    expect(poolOf({ url, id }).id).toBe(id);
  });

  it('gives each address what is declared of the name', () => {
    const pool = poolOf({
      url: 'dns+http://vllm:8000',
      name: 'vllm',
      models: [{ id: 'm' }],
      labels: { a: 'b' },
      priority: 7,
    });

    const workers = workersAt(pool, ['fd00::1', '10.0.0.2', '10.0.0.1', '10.0.0.2']);

    expect(workers.map(({ spec }) => [spec.url.id, spec.name])).toEqual([
      ['http://10.0.0.1:8000', 'vllm/10.0.0.1'],
      ['http://10.0.0.2:8000', 'vllm/10.0.0.2'],
      ['http://[fd00::1]:8000', 'vllm/fd00::1'],
    ]);
    for (const { spec, state } of workers) {
      expect([spec.models, spec.labels, spec.priority, state]).toEqual([['m'], { a: 'b' }, 7, 'up']);
    }
  });

  it.each([
    ['dns+https://vllm:8000', /scheme other than dns\+http/],
    ['dns+grpc://vllm:8000', /scheme other than dns\+http/],
    ['dns+http://10.0.0.1:8000', /has an address, not a name; give http:\/\/10\.0\.0\.1:8000/],
    ['dns+http://[::1]:8000', /has an address/],
    ['dns+http://vllm:8000@0', /names a rank/],
    ['dns+http://vllm:0', /port outside/],
    ['dns+http://', /has no host/],
    ['dns+vllm', /has no scheme/],
  ])('refuses %s', (url, message) => {
    const read = readDeclaration({ url });
    expect(read.kind === 'wrong' && read.issues[0]!.path).toEqual(['url']);
    expect(read.kind === 'wrong' && read.issues[0]!.message).toMatch(message);
  });

  it.each([
    [{ url: 'http://w:1' }, 'worker'],
    [{ url: 7 }, 'wrong'],
    [null, 'wrong'],
    ['dns+http://w', 'wrong'],
  ])('reads %j as %s', (input, kind) => {
    expect(readDeclaration(input).kind).toBe(kind);
  });
});
