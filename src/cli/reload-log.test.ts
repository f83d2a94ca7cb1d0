import { describe, expect, it } from 'vitest';
import { load } from '../../test/support/try-load.ts';
import { compare } from '../config/reload.ts';
import { createLog } from '../telemetry/log.ts';
import { logChange, logHidden } from './reload-log.ts';

function linesOf(before: string, after: string): unknown[] {
  const lines: string[] = [];
  const log = createLog({ level: 'info', json: true, destination: { write: (line) => void lines.push(line) } });
  logChange(log, compare(load({ file: before }), load({ file: after })));
  return lines.map((line) => {
    const { level, msg, path, reason, count } = JSON.parse(line) as Record<string, unknown>;
    return [level, msg, path ?? reason ?? count];
  });
}

describe('log of a reload', () => {
  it('names settings by their keys in the file, each once', () => {
    const after = 'max_idle_secs: 5\nrouting_key_order: header-only\ngrpc_port: 1\nretry_max_retries: 4';

    expect(linesOf('{}', after)).toEqual([
      ['info', 'the configuration was read again', 'routing_key_sources, max_idle_secs'],
      ['warn', 'a changed setting waits for a restart', 'grpc_port'],
      ['warn', "a changed setting waits for Envoy's configuration", 'retry_max_retries'],
    ]);
  });

  it('names what only the policy object sets', () => {
    expect(
      linesOf('policy: manual', 'policy: {type: manual, assignment_mode: min_group, eviction_interval: 7}'),
    ).toEqual([['info', 'the configuration was read again', 'policy.assignment_mode, policy.eviction_interval']]);
  });

  it.each([
    ['grpc_port: 1', 'nothing changed'],
    ['grpc_port: 2', 'no change applies at once'],
  ])('says so when nothing is taken over: %s', (after, reason) => {
    expect(linesOf('grpc_port: 1', after)[0]).toEqual(['info', 'the configuration was read again', reason]);
  });

  it('warns when all workers of the file are gone', () => {
    const before = 'workers: [{url: "http://a:1"}, {url: "http://b:1"}]';

    expect(linesOf(before, 'workers: []')).toEqual([
      ['info', 'the configuration was read again', 'workers'],
      ['warn', 'the configuration file names no worker any more; all it had are removed', 2],
    ]);
  });
});

describe('decisions 29: headers that Envoy hides', () => {
  const hiddenLines = (before: string, after: string): unknown[] => {
    const lines: string[] = [];
    const log = createLog({ level: 'warn', json: true, destination: { write: (line) => void lines.push(line) } });
    logHidden(log, load({ file: before }).settings, load({ file: after }).settings);
    return lines.map((line) => (JSON.parse(line) as Record<string, unknown>)['reason']);
  };

  it('a policy that reads them is told of them, and one that no longer does', () => {
    const [hides, reads] = ['policy: round_robin', 'policy: consistent_hashing'];

    expect(hiddenLines(hides, reads)).toEqual(['hidden so far: authorization, cookie; to be hidden: none']);
    expect(hiddenLines(reads, hides)).toEqual(['hidden so far: none; to be hidden: authorization, cookie']);
  });

  it('any other change is not', () => {
    expect(hiddenLines('policy: round_robin', 'policy: random')).toEqual([]);
  });
});
