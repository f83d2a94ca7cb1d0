import { beforeEach, describe, expect, it } from 'vitest';
import { FakeCall, methodNamed } from '../../../test/support/fake-call.ts';
import {
  HealthCheckRequest,
  HealthCheckResponse,
  HealthCheckResponse_ServingStatus as Status,
} from '../../gen/grpc/health/v1/health.ts';
import { GrpcStatus } from '../../transport/transport.ts';
import { HealthService } from './health-service.ts';

const SERVING_NAMES = [
  '',
  'readiness',
  'envoy.service.ext_proc.v3.ExternalProcessor',
  'envoy.service.auth.v3.Authorization',
];

let health: HealthService;

beforeEach(() => {
  health = new HealthService(true);
});

describe('interface 5 names of Check', () => {
  it.each([...SERVING_NAMES, 'liveness'])('"%s" is served', (name) => {
    const call = ask('Check', name);

    expect(statuses(call)).toEqual([Status.SERVING]);
    expect(call.status).toBe(GrpcStatus.ok);
  });

  it.each(SERVING_NAMES)('"%s" is not serving during a drain', (name) => {
    health.setServing(false);

    expect(statuses(ask('Check', name))).toEqual([Status.NOT_SERVING]);
  });

  it('liveness stays during a drain', () => {
    health.setServing(false);

    expect(statuses(ask('Check', 'liveness'))).toEqual([Status.SERVING]);
  });

  it.each(['other', 'envoy.service.accesslog.v3.AccessLogService', 'Liveness'])('"%s" is NOT_FOUND', (name) => {
    const call = ask('Check', name);

    expect(call.status).toBe(GrpcStatus.notFound);
    expect(call.sent).toEqual([]);
  });
});

describe('Watch', () => {
  it.each(SERVING_NAMES)('"%s" tells the state and each change of it', (name) => {
    const call = ask('Watch', name);
    health.setServing(true);
    health.setServing(false);
    health.setServing(false);
    health.setServing(true);

    expect(statuses(call)).toEqual([Status.SERVING, Status.NOT_SERVING, Status.SERVING]);
    expect(call.over).toBe(false);
  });

  it.each([
    ['liveness', Status.SERVING],
    ['other', Status.SERVICE_UNKNOWN],
  ])('"%s" does not change with a drain', (name, status) => {
    const call = ask('Watch', name);
    health.setServing(false);

    expect(statuses(call)).toEqual([status]);
    expect(call.over).toBe(false);
  });

  it('goes on after the half-close and ends with close', () => {
    const call = ask('Watch', '');
    call.halfClose();
    expect(call.over).toBe(false);

    health.close();
    expect(call.status).toBe(GrpcStatus.ok);
  });

  it('a watcher that left is told no more', () => {
    const call = ask('Watch', '');
    call.leave();
    health.setServing(false);

    expect(statuses(call)).toEqual([Status.SERVING]);
  });
});

describe.each(['Check', 'Watch'])('%s refuses', (method) => {
  it('bytes that are no request', () => {
    const call = new FakeCall(methodNamed(health.methods, method));
    call.receive(Buffer.from([0x0a, 0xff]));

    expect(call.status).toBe(GrpcStatus.invalidArgument);
  });

  it('a call without a request', () => {
    const call = new FakeCall(methodNamed(health.methods, method));
    call.halfClose();

    expect(call.status).toBe(GrpcStatus.invalidArgument);
  });
});

function ask(method: string, service: string): FakeCall {
  const call = new FakeCall(methodNamed(health.methods, method));
  call.receive(HealthCheckRequest.encode({ service }).finish());
  return call;
}

function statuses(call: FakeCall): unknown[] {
  return call.sent.map((bytes) => HealthCheckResponse.decode(bytes).status);
}
