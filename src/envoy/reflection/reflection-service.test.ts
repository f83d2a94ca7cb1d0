import { create, createFileRegistry, fromBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { beforeEach, describe, expect, it } from 'vitest';
import { FakeCall } from '../../../test/support/fake-call.ts';
import { ServerReflectionRequest, ServerReflectionResponse } from '../../gen/grpc/reflection/v1/reflection.ts';
import { GrpcStatus } from '../../transport/transport.ts';
import { ReflectionService } from './reflection-service.ts';

type Question = NonNullable<ServerReflectionRequest['messageRequest']>;

const SERVICES = [
  'envoy.service.accesslog.v3.AccessLogService',
  'envoy.service.auth.v3.Authorization',
  'envoy.service.discovery.v3.AggregatedDiscoveryService',
  'envoy.service.endpoint.v3.EndpointDiscoveryService',
  'envoy.service.ext_proc.v3.ExternalProcessor',
  'grpc.health.v1.Health',
  'grpc.reflection.v1.ServerReflection',
];

let service: ReflectionService;

beforeEach(() => {
  service = new ReflectionService();
});

describe('what grpcurl asks', () => {
  it('list: the services', () => {
    const answer = ask({ $case: 'listServices', value: '*' }).messageResponse;

    expect(answer?.$case === 'listServicesResponse' && answer.value.service?.map(({ name }) => name).sort()).toEqual(
      SERVICES,
    );
  });

  it.each(SERVICES)('describe %s: a closed set of files with its methods', (name) => {
    const registry = registryOf(ask({ $case: 'fileContainingSymbol', value: name }));

    expect(registry.getService(name)?.methods.length).toBeGreaterThan(0);
  });

  it.each([
    ['a message', 'envoy.service.ext_proc.v3.ProcessingRequest'],
    ['a nested message', 'envoy.service.accesslog.v3.StreamAccessLogsMessage.Identifier'],
    ['an enum', 'envoy.config.core.v3.HealthStatus'],
    ['a nested enum', 'envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode'],
    ['a well-known type', 'google.protobuf.Struct'],
  ])('describe %s', (_, name) => {
    const registry = registryOf(ask({ $case: 'fileContainingSymbol', value: name }));

    expect(registry.getMessage(name) ?? registry.getEnum(name)).toBeDefined();
  });

  it('a method and the file by its name lead to the same files', () => {
    const byMethod = ask({ $case: 'fileContainingSymbol', value: 'grpc.health.v1.Health.Check' });
    const byName = ask({ $case: 'fileByFilename', value: 'grpc/health/v1/health.proto' });

    expect(byMethod.messageResponse).toEqual(byName.messageResponse);
    expect(byName.messageResponse?.$case).toBe('fileDescriptorResponse');
  });

  it.each<Question>([
    { $case: 'fileContainingSymbol', value: 'no.such.Thing' },
    { $case: 'fileByFilename', value: 'no/such.proto' },
    { $case: 'allExtensionNumbersOfType', value: 'no.such.Thing' },
    { $case: 'fileContainingExtension', value: { containingType: 'google.protobuf.Any', extensionNumber: 7 } },
  ])('$$case of $value is not found', (question) => {
    expect(ask(question).messageResponse).toMatchObject({ $case: 'errorResponse', value: { errorCode: 5 } });
  });

  it('a known message has no extensions', () => {
    const baseTypeName = 'grpc.health.v1.HealthCheckRequest';

    expect(ask({ $case: 'allExtensionNumbersOfType', value: baseTypeName }).messageResponse).toEqual({
      $case: 'allExtensionNumbersResponse',
      value: { baseTypeName, extensionNumber: [] },
    });
  });
});

describe('the stream', () => {
  it('answers each request in order and repeats it', () => {
    const call = open();
    call.receive(ServerReflectionRequest.encode({ host: 'h' }).finish());
    const second: ServerReflectionRequest = { host: 'h', messageRequest: { $case: 'fileByFilename', value: 'x' } };
    call.receive(ServerReflectionRequest.encode(second).finish());

    const answers = call.sent.map((bytes) => ServerReflectionResponse.decode(bytes));
    expect(answers[0]?.messageResponse).toMatchObject({ value: { errorCode: GrpcStatus.unimplemented } });
    expect(answers[1]).toMatchObject({ validHost: 'h', originalRequest: second });
  });

  it('ends with the client, with close and on bytes that are no request', () => {
    const [first, second, third] = [open(), open(), open()];
    first.halfClose();
    second.receive(Buffer.from([0x0a, 0xff]));
    service.close();

    expect([first.status, second.status, third.status]).toEqual([
      GrpcStatus.ok,
      GrpcStatus.invalidArgument,
      GrpcStatus.ok,
    ]);
  });
});

function open(): FakeCall {
  return new FakeCall(service.methods[0]!);
}

function ask(messageRequest: Question): ServerReflectionResponse {
  const call = open();
  call.receive(ServerReflectionRequest.encode({ messageRequest }).finish());
  return ServerReflectionResponse.decode(call.sent[0]!);
}

/** Fails unless the files of the answer import nothing beyond each other. */
function registryOf({ messageResponse }: ServerReflectionResponse): ReturnType<typeof createFileRegistry> {
  if (messageResponse?.$case !== 'fileDescriptorResponse') throw new Error(`got ${messageResponse?.$case}`);
  const file = (messageResponse.value.fileDescriptorProto ?? []).map((bytes) =>
    fromBinary(FileDescriptorProtoSchema, bytes),
  );
  return createFileRegistry(create(FileDescriptorSetSchema, { file: inOrder(file) }));
}

/** The registry wants imports before those that import them. */
function inOrder<F extends { name: string; dependency: string[] }>(files: F[]): F[] {
  const done: F[] = [];
  const add = (file: F): void => {
    for (const name of file.dependency) add(files.find((other) => other.name === name)!);
    if (!done.includes(file)) done.push(file);
  };
  files.forEach(add);
  return done;
}
