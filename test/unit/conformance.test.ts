import { beforeAll, describe, expect, it } from 'vitest';
import { CHECKS } from '../../src/conformance/catalogue.ts';
import type { Check } from '../../src/conformance/check.ts';
import type { Connection } from '../../src/conformance/connection.ts';
import type { Load } from '../../src/conformance/context.ts';
import { PickerConnection } from '../../src/conformance/picker-connection.ts';
import { type CheckResult, runChecks } from '../../src/conformance/run-checks.ts';
import { DirectConnection } from '../support/reference-picker/direct-connection.ts';
import { FAULTS, type Fault } from '../support/reference-picker/fault.ts';
import { GrpcServer } from '../support/reference-picker/grpc-server.ts';
import { ReferencePicker } from '../support/reference-picker/reference-picker.ts';

const ENDPOINTS = ['127.0.0.1:8001', '127.0.0.1:8002', '[fd00::1]:8000'];
const MANY = Array.from({ length: 20 }, (_, index) => `127.0.0.1:${8001 + index}`);

/** Enough to meet each fault, small enough to run beside others. */
const LIGHT: Load = {
  largestBody: 70_000,
  largestMessage: 600_000,
  streams: 60,
  resets: 40,
  held: 6,
  sample: 12,
  silenceMs: 20,
};

/** Within the process no server has limits that many streams could meet. */
const DIRECT: Load = { ...LIGHT, largestMessage: 100_000, streams: 6, resets: 8 };

/** Above the sizes that P5 always tries, and gRPC's limit of 4 MiB. All of `FULL_LOAD` is for the service, in test/e2e. */
const HEAVIER: Load = {
  largestBody: 3_000_000,
  largestMessage: 5_000_000,
  streams: 200,
  resets: 200,
  held: 12,
  sample: 24,
  silenceMs: 100,
};

/** The check that must find a fault. Where a fault cannot but show in several, all of them. */
const FOUND_BY: Readonly<Record<Fault, readonly string[]>> = {
  'no destination header': ['P1'],
  'no destination metadata': ['P1'],
  'header and metadata differ': ['P1'],
  'header names another endpoint': ['P1'],
  'metadata after the headers': ['P1'],
  'subset compared by address only': ['P2'],
  'subset as string taken for absent': ['P2'],
  'subset of a wrong type taken for absent': ['P2'],
  'late subset not read': ['P2'],
  'subset ignored without a body': ['P3'],
  'no endpoint ends the stream with Internal': ['P4'],
  'no endpoint answered with 429': ['P4'],
  'load answered with 503': ['P4'],
  'refusal of a wrong length': ['P4'],
  'refusal with a destination': ['P4'],
  'last byte after 62,000 lost': ['P5'],
  'repeated end sent back twice': ['P5'],
  'end flag although trailers follow': ['P5'],
  'empty body without an end': ['P5'],
  'response pieces swapped': ['P5'],
  'other pick in BUFFERED_PARTIAL': ['P6'],
  'other pick in STREAMED': ['P6'],
  'pick by the body in STREAMED': ['P6'],
  'request trailers unanswered': ['P7'],
  'response trailers unanswered': ['P7'],
  'request trailer added': ['P7'],
  'response trailer changed': ['P7'],
  'response trailer removed': ['P7'],
  'forged subset header stays': ['P8'],
  'destination added to the forged one': ['P8'],
  'served endpoint ignored': ['P9'],
  'served attribute ignored': ['P9'],
  'served attribute before metadata': ['P9'],
  'served endpoint moves pins only': ['P9'],
  'health by an own name': ['P10'],
  'any health name serves': ['P10'],
  'count kept without a response': ['P11'],
  'pin made by the response only': ['P11'],
  'endpoint twice in the list': ['P12'],
  'unready endpoint in the list': ['P12'],
  'list of the whole fleet': ['P12'],
  'preferred endpoint last': ['P12'],
  'headers answered twice': ['E1'],
  'unasked answer after the request': ['E1'],
  'body before the header answer': ['E1'],
  'stream left open': ['E2'],
  'stream ends with an error': ['E2'],
  'header in value': ['E3'],
  'invalid header name': ['E3'],
  'content-length set': ['E4'],
  'all headers written back': ['E4'],
  'path rewritten': ['E4'],
  'method rewritten': ['E4'],
  'authority rewritten': ['E4'],
  'host set': ['E4'],
  'content type removed': ['E4'],
  "client's own header changed": ['E4'],
  'pieces of 100,000 bytes': ['E5'],
  'buffered body replaced': ['E5'],
  'override to BUFFERED': ['E6'],
  'override in full duplex': ['E6'],
  'upgrade waits for its body': ['E7'],
  'gRPC waits for its body': ['E7'],
  'unknown path refused': ['E8'],
  'malformed body ends the stream': ['E8'],
  'nothing for a stream without a request': ['E9'],
  'early response unanswered': ['E10'],
  'IPv6 without brackets': ['E11'],
  'IPv6 written out': ['E11'],
  'selection header without the switch': ['E12'],
  'small receive limit': ['E13'],
  'few streams at once': ['E14'],
  'response held until its end': ['E16'],
  'header answer after 250 ms': ['E17'],
  'keys do not stick': [],
  'selection header not read': ['G1'],
  'served endpoint not shown': ['G1'],
};

/** Faults of the server, not of what it says. */
const OF_GRPC: ReadonlySet<Fault> = new Set(['small receive limit', 'few streams at once']);

interface Case {
  readonly fault: Fault | null;
  readonly load?: Load;
  readonly checks?: readonly Check[];
  /** Over gRPC; else messages pass within the process. */
  readonly grpc?: boolean;
}

async function judge({
  fault,
  checks = CHECKS,
  grpc = false,
  load = grpc ? LIGHT : DIRECT,
}: Case): Promise<readonly CheckResult[]> {
  const endpoints = fault === 'list of the whole fleet' ? MANY : ENDPOINTS;
  const testSelection = checks.every(({ id }) => id === 'G1');
  const picker = new ReferencePicker({ endpoints, fault, testSelection });
  const shedding = new ReferencePicker({ endpoints, fault, overloaded: true });
  const timeoutMs = fault === null ? 5_000 : 400;
  const servers: GrpcServer[] = [];
  const reach = async (to: ReferencePicker): Promise<() => Connection> => {
    if (!grpc) return () => new DirectConnection(to, timeoutMs);
    const server = await GrpcServer.start(to);
    servers.push(server);
    return () => new PickerConnection({ address: server.address, timeoutMs, tls: null, authority: null });
  };
  try {
    return await runChecks(checks, {
      connect: await reach(picker),
      requests: { path: '/v1/chat/completions', model: 'm', body: null },
      name: 'test',
      knowledge: {
        endpoints,
        stickyHeader: 'x-session-key',
        health: null,
        overloaded: await reach(shedding),
        testSelection,
      },
      load,
    });
  } finally {
    for (const server of servers) server.close();
  }
}

const failed = (results: readonly CheckResult[]) =>
  results.filter(({ result }) => result === 'fail').map(({ id }) => id);

describe('endpoint-picker-protocol 10: a picker that follows the protocol', () => {
  let results: readonly CheckResult[];
  beforeAll(async () => {
    results = await judge({ fault: null, load: HEAVIER, grpc: true });
  }, 60_000);

  it.each(CHECKS.filter(({ id }) => id !== 'G1'))('passes $id: $title', ({ id }) => {
    const result = results.find((it) => it.id === id);
    expect(result?.findings.filter(({ verdict }) => verdict !== 'held')).toEqual([]);
    expect(result?.result).toBe('pass');
  });

  it('passes G1 with the test switch of the gateway suite', async () => {
    const checks = CHECKS.filter(({ id }) => id === 'G1');
    expect((await judge({ fault: null, checks, grpc: true })).map(({ result }) => result)).toEqual(['pass']);
  });
});

describe.concurrent('each fault is found by the check it belongs to, and by no other', () => {
  it.each(FAULTS)('%s', { timeout: 60_000 }, async (fault) => {
    const expected = FOUND_BY[fault];
    const checks = expected.includes('G1') ? CHECKS.filter(({ id }) => id === 'G1') : CHECKS;
    expect(failed(await judge({ fault, checks, grpc: OF_GRPC.has(fault) }))).toEqual(expected);
  });

  it('a key that does not stick is told once, and no check goes by it', { timeout: 60_000 }, async () => {
    const results = await judge({ fault: 'keys do not stick' });
    const told = results.flatMap(({ findings }) => findings.filter(({ came }) => came.includes('not stick, so')));
    expect(told).toHaveLength(1);
    expect(results.find(({ id }) => id === 'P6')?.findings[0]).toBe(told[0]);
  });

  it("the limit of resets that Node's HTTP/2 server has", async () => {
    const load = { ...LIGHT, resets: 1500 };
    const checks = CHECKS.filter(({ id }) => id === 'E15');
    expect(failed(await judge({ fault: null, load, checks, grpc: true }))).toEqual(['E15']);
  });

  it('there is a fault for each check', () => {
    const found = new Set([...Object.values(FOUND_BY).flat(), 'E15']);
    expect(CHECKS.map(({ id }) => id).filter((id) => !found.has(id))).toEqual([]);
  });
});
