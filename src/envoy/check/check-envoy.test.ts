import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { flawed, generated, settingsFor } from '../../../test/support/envoy-check.ts';
import { checkEnvoy, type EnvoyReport } from './check-envoy.ts';
import { showPlace } from './tree.ts';

const SETTINGS = settingsFor([]);
let good = '';
beforeAll(async () => {
  good = await generated([]);
});

function check(...texts: readonly string[]): EnvoyReport {
  const files = texts.map((text, index) => ({ name: `${String.fromCharCode(97 + index)}.yaml`, text }));
  return checkEnvoy(files, SETTINGS);
}

function found(...texts: readonly string[]): readonly string[] {
  const { problems, findings, notJudged } = check(...texts);
  return [
    ...problems,
    ...findings.map(({ place, trap }) => `${showPlace(place)} ${trap}`),
    ...notJudged.map(({ place, reason }) => `${showPlace(place)} ${reason}`),
  ];
}

/** The line with that text, from 1. */
function lineOf(text: string, part: string): number {
  return text.split('\n').findIndex((line) => line.includes(part)) + 1;
}

describe('places', () => {
  it('a wrong value is found where its key stands', () => {
    const text = good.replace('message_timeout: 5s', 'message_timeout: 0.1s');
    const line = lineOf(text, '  message_timeout: 0.1s');
    const column = (text.split('\n')[line - 1] ?? '').indexOf('message_timeout') + 1;

    expect(found(text)).toEqual([`a.yaml:${line}:${column} T29`]);
  });

  it('what is missing is found at what should hold it', () => {
    const text = good.replace(/^ *message_timeout: 5s\n/m, '');
    const line = lineOf(text, 'ext_proc.v3.ExternalProcessor') - 1;
    const column = (text.split('\n')[line - 1] ?? '').indexOf('typed_config') + 1;

    expect(found(text)).toEqual([`a.yaml:${line}:${column} T29`]);
  });

  it('the files are told apart, and stand together for one Envoy', () => {
    const { clusters, listeners } = parse(good).static_resources;
    clusters[0].circuit_breakers = {};
    const { static_resources: _, ...rest } = parse(good);

    expect(
      found(
        stringify({ ...rest, static_resources: { listeners } }),
        stringify({ static_resources: { clusters }, layered_runtime: rest.layered_runtime }),
      ),
    ).toEqual([expect.stringMatching(/^b\.yaml:\d+:\d+ T41$/)]);
  });
});

describe('spellings that Envoy takes', () => {
  const camel = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(camel);
    if (typeof value !== 'object' || value === null) return value;
    // Not keys of maps, which are names and no fields.
    const key = (name: string): string =>
      /[.@]/.test(name) ? name : name.replace(/_([a-z])/g, (_, x) => x.toUpperCase());
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [key(name), camel(inner)]));
  };

  it('camelCase', () => {
    expect(found(stringify(camel(parse(good)), { aliasDuplicateObjects: false }))).toEqual([]);
    const text = flawed(good, ({ filter }) => (filter.message_timeout = '0.1s'));
    expect(found(stringify(camel(parse(text)))).join()).toContain('T29');
  });

  it('JSON, also in one line', () => {
    expect(found(JSON.stringify(parse(good)))).toEqual([]);
    expect(found(JSON.stringify(parse(good), null, '\t'))).toEqual([]);
    const bad = flawed(good, ({ filter }) => (filter.observability_mode = true));
    expect(found(JSON.stringify(parse(bad)))).toEqual([expect.stringMatching(/^a\.yaml:1:\d+ T55$/)]);
  });

  it('anchors and aliases: found where the anchor stands', () => {
    const text = stringify(
      parse(flawed(good, ({ workers, picker }) => (picker.circuit_breakers = workers.circuit_breakers))),
    ).replace(
      /circuit_breakers:\n( +)thresholds:\n(?:.*\n){4}/,
      'circuit_breakers: &low {thresholds: [{max_requests: 9}]}\n',
    );

    expect(found(text).map((line) => line.replace(/^.* /, ''))).toContain('T41');
  });

  it('names of enumerations in any case, and their numbers', () => {
    const lower = flawed(good, ({ filter }) => (filter.processing_mode.response_header_mode = 'skip'));
    const number = flawed(good, ({ filter }) => (filter.processing_mode.response_header_mode = 2));

    expect([found(lower), found(number)]).toEqual([[], []]);
    expect(found(flawed(good, ({ filter }) => (filter.processing_mode.response_header_mode = 1))).join()).toContain(
      'T11',
    );
  });

  it('null for what is not set', () => {
    expect(found(flawed(good, ({ filter }) => (filter.message_timeout = null))).join()).toContain('T29');
  });

  it('a configuration in a TypedStruct', () => {
    const text = flawed(good, ({ filters }) => {
      const { '@type': type_url, ...value } = filters[0].typed_config;
      value.message_timeout = '0.1s';
      filters[0].typed_config = { '@type': 'type.googleapis.com/xds.type.v3.TypedStruct', type_url, value };
    });

    expect(found(text)).toEqual([expect.stringMatching(/T29$/)]);
  });

  it('durations as messages', () => {
    expect(found(flawed(good, ({ filter }) => (filter.message_timeout = { seconds: 5, nanos: 1 })))).toEqual([]);
  });
});

describe('other shapes', () => {
  it("a dump of Envoy's admin interface", () => {
    const bootstrap = parse(flawed(good, ({ filter }) => (filter.observability_mode = true)));
    const { listeners, clusters } = bootstrap.static_resources;
    const dump = {
      configs: [
        { '@type': 'type.googleapis.com/envoy.admin.v3.BootstrapConfigDump', bootstrap },
        {
          '@type': 'type.googleapis.com/envoy.admin.v3.ClustersConfigDump',
          static_clusters: clusters.map((one: object) => {
            return { cluster: { '@type': 'type.googleapis.com/envoy.config.cluster.v3.Cluster', ...one } };
          }),
        },
        {
          '@type': 'type.googleapis.com/envoy.admin.v3.ListenersConfigDump',
          dynamic_listeners: listeners.map((one: object) => {
            const listener = { '@type': 'type.googleapis.com/envoy.config.listener.v3.Listener', ...one };
            return { name: 'edge', active_state: { listener } };
          }),
        },
      ],
    };

    expect(found(JSON.stringify(dump, null, 1))).toEqual([expect.stringMatching(/ T55$/)]);
  });

  it('routes from a control plane are found by their name, else named as not judged', () => {
    const config = parse(good);
    const manager = config.static_resources.listeners[0].filter_chains[0].filters[0].typed_config;
    const { route_config: routes, ...rest } = manager;
    config.static_resources.listeners[0].filter_chains[0].filters[0].typed_config = {
      ...rest,
      rds: { route_config_name: 'edge', config_source: { ads: {} } },
    };
    delete routes.virtual_hosts[0].request_body_buffer_limit;
    const rds = { resources: [{ '@type': 'type.googleapis.com/envoy.config.route.v3.RouteConfiguration', ...routes }] };

    expect(found(stringify(config))).toEqual([expect.stringContaining('routes come from a control plane (edge)')]);
    expect(found(stringify(config), stringify(rds))).toEqual([expect.stringMatching(/^b\.yaml:.* T14$/)]);
  });

  it('clusters from a control plane are named as not judged', () => {
    const text = flawed(good, ({ config }) => {
      config.static_resources.clusters = config.static_resources.clusters.filter(
        ({ name }: { name: string }) => name !== 'workers',
      );
    });

    expect(found(text)).toEqual([expect.stringContaining('cluster workers (workers) is in none of the files')]);
  });

  it('an aggregate cluster is named as not judged: those behind it may take picks', () => {
    const text = flawed(good, ({ config }) => {
      const type = 'type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig';
      for (const cluster of config.static_resources.clusters) {
        if (cluster.name === 'workers') cluster.name = 'workers_first';
      }
      config.static_resources.clusters.push({
        name: 'workers',
        cluster_type: { name: 'aggregate', typed_config: { '@type': type, clusters: ['workers_first'] } },
      });
    });

    expect(found(text)).toEqual([expect.stringContaining('cluster workers (workers) is an aggregate of others')]);
  });

  it('listeners from a control plane: nothing is there to judge', () => {
    expect(found('dynamic_resources: {lds_config: {ads: {}}}')).toEqual([
      expect.stringContaining('listeners come from a control plane'),
    ]);
  });

  it.each([
    ['', 'the file is empty'],
    ['# nothing\n', 'the file is empty'],
    ['just text', 'this is no configuration of Envoy'],
    ['a: [', 'a.yaml:1:5'],
    ['a: *b', 'a.yaml:1:4: alias *b has no anchor'],
    ['a: 1\na: 2', 'a.yaml:2:1'],
    ['static_resources: {}', 'asks the service'],
    ['a: &a [*a]', 'an alias stands inside its own anchor'],
    [`${'['.repeat(300)}${']'.repeat(300)}`, 'is nested too deeply'],
    [
      `a0: &a0 [x]\n${Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i},`.repeat(9)}]`).join('\n')}`,
      'aliases unfold to more than',
    ],
  ])('%j cannot be judged', (text, problem) => {
    const { problems, findings } = check(text);

    expect(problems.join('\n')).toContain(problem);
    expect(findings).toEqual([]);
  });

  it('several documents, and a list of resources, are read like several files', () => {
    const [listeners, clusters] = ['listeners', 'clusters'].map((name) => {
      const { static_resources, layered_runtime } = parse(good);
      return stringify({ layered_runtime, static_resources: { [name]: static_resources[name] } });
    });

    expect(found(`${listeners}---\n${clusters}---\n`)).toEqual([]);
  });
});

describe('which filter is the service', () => {
  const other = (name: string, cluster: string) => ({
    name,
    typed_config: {
      '@type': 'type.googleapis.com/envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor',
      grpc_service: { envoy_grpc: { cluster_name: cluster } },
    },
  });

  it('the one with our mark, not the one that scans bodies', () => {
    const text = flawed(good, ({ filters }) => filters.unshift(other('guardrails', 'guardrails')));

    expect(found(text).map((line) => line.replace(/^.* /, ''))).toEqual(['T58']);
  });

  it('an ext_authz filter that authorizes is left alone', () => {
    const text = flawed(good, ({ filters }) => {
      const type = 'type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthz';
      filters.unshift({
        name: 'authz',
        typed_config: { '@type': type, http_service: { server_uri: { uri: 'a', cluster: 'a' } } },
      });
    });

    expect(found(text)).toEqual([]);
  });

  it('a chain that is not asked is left alone', () => {
    const text = flawed(good, ({ config, listener }) => {
      const copy = structuredClone(listener);
      const manager = copy.filter_chains[0].filters[0].typed_config;
      manager.http_filters.shift();
      delete manager.use_remote_address;
      delete manager.access_log;
      config.static_resources.listeners.push({ ...copy, name: 'internal' });
    });

    expect(found(text)).toEqual([]);
  });
});

describe('any text', () => {
  const inside = (text: string) => {
    const { findings, notJudged, problems } = checkEnvoy([{ name: 'a.yaml', text }], SETTINGS);
    const lines = text.split('\n');
    const places = [...findings.map(({ place }) => place), ...notJudged.map(({ place }) => place)];
    for (const { file, line, column } of places) {
      expect(file).toBe('a.yaml');
      expect(line).toBeGreaterThanOrEqual(1);
      expect(line).toBeLessThanOrEqual(lines.length);
      expect(column).toBeGreaterThanOrEqual(1);
      expect(column).toBeLessThanOrEqual((lines[line - 1] ?? '').length + 1);
    }
    for (const problem of problems) expect(problem).toMatch(/^a\.yaml:\d+:\d+: \S/);
  };

  it('never throws, and every place lies in the file', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json()), (text) => inside(text)),
      { numRuns: 200 },
    );
  });

  it('nor where any value of a real configuration is another one', () => {
    const config = parse(good);
    const paths: (string | number)[][] = [];
    const walk = (value: unknown, path: (string | number)[]): void => {
      if (path.length > 0) paths.push(path);
      if (typeof value !== 'object' || value === null) return;
      for (const [key, inner] of Object.entries(value))
        walk(inner, [...path, Array.isArray(value) ? Number(key) : key]);
    };
    walk(config, []);

    fc.assert(
      fc.property(fc.constantFrom(...paths), fc.jsonValue({ maxDepth: 2 }), (path, value) => {
        const copy = structuredClone(config);
        // biome-ignore lint/suspicious/noExplicitAny: a configuration is edited as plain data
        const holder = path.slice(0, -1).reduce((inner: any, step) => inner[step], copy);
        holder[path.at(-1) ?? ''] = value;
        inside(stringify(copy, { aliasDuplicateObjects: false }));
      }),
      { numRuns: 60 },
    );
  });
});
