import { describe, expect, it } from 'vitest';
import { parseWorkerSpec, patchWorkerSpec } from './worker-spec.ts';

const url = 'http://w:8000';

function specOf(input: unknown) {
  const result = parseWorkerSpec(input);
  if (!result.ok) throw new Error(JSON.stringify(result.issues));
  return result.spec;
}

const full: Readonly<Record<string, unknown>> & { readonly health: Readonly<Record<string, unknown>> } = {
  url,
  name: 'left',
  models: [{ id: 'a' }],
  worker_type: 'decode',
  runtime_type: 'vllm',
  bootstrap_port: 8998,
  api_key: 'sk-1',
  priority: 7,
  cost: 2.5,
  labels: { zone: 'x' },
  health: {
    disable_health_check: true,
    endpoint: '/healthz',
    timeout_secs: 0.5,
    check_interval_secs: 2,
    success_threshold: 1,
    failure_threshold: 4,
  },
  load_monitor_interval_secs: 2,
  overload: { waiting_requests: 5, token_usage: 0.8 },
};

describe('interface 6 declared workers', () => {
  it('takes defaults for all but the URL (policies 2.4)', () => {
    expect(specOf({ url: `${url}/` })).toMatchObject({
      url: { id: url },
      name: null,
      models: [],
      workerType: 'regular',
      runtimeType: null,
      bootstrapPort: null,
      apiKey: null,
      priority: 50,
      cost: 1,
      labels: {},
      health: { enabled: null, endpoint: null, timeoutSecs: null },
    });
  });

  it('takes every field', () => {
    const spec = specOf({ ...full, id: url, models: [{ id: 'a' }, { id: 'b' }, { id: 'a' }], priority: 0 });

    expect(spec).toMatchObject({
      loadIntervalSecs: 2,
      overload: { waitingRequests: 5, tokenUsage: 0.8 },
      name: 'left',
      models: ['a', 'b'],
      workerType: 'decode',
      runtimeType: 'vllm',
      bootstrapPort: 8998,
      apiKey: 'sk-1',
      priority: 0,
      cost: 2.5,
      labels: { zone: 'x' },
      health: {
        enabled: false,
        endpoint: '/healthz',
        timeoutSecs: 0.5,
        intervalSecs: 2,
        successThreshold: 1,
        failureThreshold: 4,
      },
    });
  });

  it.each<[unknown, string, (string | number)[]]>([
    [undefined, 'worker: must be an object with a url, got nothing', []],
    ['http://w', 'worker: must be an object with a url, got "http://w"', []],
    [{}, 'url: must be the URL of the worker, got nothing', ['url']],
    [{ url: 7 }, 'url: must be the URL of the worker, got 7', ['url']],
    [{ url: 'ipc://w' }, 'url: worker URL "ipc://w" has scheme ipc, which is not supported; allowed:', ['url']],
    [{ url, id: 'x' }, `id: must be the URL of the worker, "${url}"`, ['id']],
    [{ url, name: '' }, 'name: must be a text that is not empty, without control characters, got ""', ['name']],
    [{ url, name: 'a\r\nx: 1' }, 'name: must be a text that is not empty, without control characters, got', ['name']],
    [{ url, models: 'a' }, 'models: must be a list of {id: MODEL}, got "a"', ['models']],
    [{ url, models: ['a'] }, 'models[0]: must be an object {id: MODEL}, got "a"', ['models', 0]],
    [{ url, models: [{ id: '' }] }, 'models[0].id: must be a model id that is not empty, got ""', ['models', 0, 'id']],
    [{ url, models: [{ id: 'a', x: 1 }] }, 'models[0]: unknown field x; allowed: id', ['models', 0, 'x']],
    [{ url, worker_type: 'encode' }, 'worker_type: must be regular, prefill or decode, got "encode"', ['worker_type']],
    [{ url, bootstrap_port: 0 }, 'bootstrap_port: must be a port from 1 to 65535, got 0', ['bootstrap_port']],
    [{ url, priority: -1 }, 'priority: must be an integer from 0 to 4294967295, got -1', ['priority']],
    [{ url, priority: 1.5 }, 'priority: must be an integer from 0 to 4294967295, got 1.5', ['priority']],
    [{ url, priority: 1e99 }, 'priority: must be an integer from 0 to 4294967295, got 1e+99', ['priority']],
    [{ url, cost: 'x' }, 'cost: must be a number from 0 up, got "x"', ['cost']],
    [{ url, labels: { a: 1 } }, 'labels.a: must be a text, got 1', ['labels', 'a']],
    [
      { url, health: { timeout_secs: 0 } },
      'health.timeout_secs: must be a number of seconds',
      ['health', 'timeout_secs'],
    ],
    [
      { url, health: { failure_threshold: 0 } },
      'health.failure_threshold: must be an int',
      ['health', 'failure_threshold'],
    ],
    [{ url, health: { endpoint: 'health' } }, 'health.endpoint: must be a path, got "health"', ['health', 'endpoint']],
    [{ url, health: { x: 1 } }, 'health: unknown field x; allowed: check_interval_secs, disable_', ['health', 'x']],
    [
      { url, load_monitor_interval_secs: 0 },
      'load_monitor_interval_secs: must be an integer of seconds',
      ['load_monitor_interval_secs'],
    ],
    [
      { url, overload: { waiting_requests: 0 } },
      'overload.waiting_requests: must be an integer from 1',
      ['overload', 'waiting_requests'],
    ],
    [
      { url, overload: { token_usage: 1.5 } },
      'overload.token_usage: must be a number above 0 and at most 1',
      ['overload', 'token_usage'],
    ],
    [
      { url, overload: { x: 1 } },
      'overload: unknown field x; allowed: token_usage, waiting_requests',
      ['overload', 'x'],
    ],
    [{ url, kv_block_size: 16 }, 'worker: unknown field kv_block_size', ['kv_block_size']],
    [{ url, colour: 'red' }, 'worker: unknown field colour; allowed: api_key, bootstrap_port, cost', ['colour']],
  ])('%j is refused by naming field, value and what is allowed', (input, message, path) => {
    const result = parseWorkerSpec(input);

    expect(result.ok).toBe(false);
    expect(!result.ok && result.issues.map((issue) => issue.path)).toEqual([path]);
    expect(!result.ok && result.issues[0]!.message.slice(0, message.length)).toBe(message);
  });

  it('does not repeat an API key', () => {
    const result = parseWorkerSpec({ url, api_key: 'secret key' });

    expect(result).toMatchObject({ ok: false, issues: [{ path: ['api_key'] }] });
    expect(JSON.stringify(result)).not.toContain('secret');
  });

  it('names every problem', () => {
    const result = parseWorkerSpec({ url: 'w', cost: -1, priority: 'x' });

    expect(!result.ok && result.issues.map((issue) => issue.path[0])).toEqual(['url', 'priority', 'cost']);
  });
});

describe('patch', () => {
  const current = specOf({ url, name: 'left', api_key: 'k', models: [{ id: 'a' }], labels: { zone: 'x' } });

  it('leaves absent fields, clears null, replaces lists and objects whole', () => {
    const result = patchWorkerSpec(current, { name: null, labels: { rack: 'y' }, cost: 3 });

    expect(result).toEqual({ ok: true, spec: { ...current, name: null, labels: { rack: 'y' }, cost: 3 } });
  });

  it.each(Object.keys(full).filter((field) => field !== 'url'))(
    'null clears %s, as if it had never been given',
    (field) => {
      const { [field]: _, ...others } = full;

      expect(patchWorkerSpec(specOf(full), { [field]: null })).toEqual({ ok: true, spec: specOf(others) });
      expect(specOf({ ...full, [field]: null })).toEqual(specOf(others));
    },
  );

  it.each(Object.keys(full.health))('null for health.%s leaves it to the flags', (field) => {
    const { [field]: _, ...others } = full.health;

    expect(patchWorkerSpec(specOf(full), { health: { ...full.health, [field]: null } })).toEqual({
      ok: true,
      spec: specOf({ ...full, health: others }),
    });
  });

  it.each([[{ url: 'http://x' }], [{ id: 'x' }], [{ cost: -1 }], [null]])('refuses %j', (input) => {
    expect(patchWorkerSpec(current, input).ok).toBe(false);
  });
});
