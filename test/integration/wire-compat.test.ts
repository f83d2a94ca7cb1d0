import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DescMessage, FileRegistry } from '@bufbuild/protobuf';
import { create, createFileRegistry, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { BinaryWriter } from '@bufbuild/protobuf/wire';
import type { FileDescriptorSet } from '@bufbuild/protobuf/wkt';
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { beforeAll, describe, expect, it } from 'vitest';
import { AccessLogType } from '../../src/gen/envoy/data/accesslog/v3/accesslog.ts';
import { StreamAccessLogsMessage } from '../../src/gen/envoy/service/accesslog/v3/als.ts';
import { ProcessingRequest, ProcessingResponse } from '../../src/gen/envoy/service/ext_proc/v3/external_processor.ts';
import { DESCRIBED_FILES } from '../../src/gen/grpc/reflection/descriptors.ts';
import { enumDifferences, messageDifferences, serviceDifferences } from '../support/descriptor-differences.ts';
import type { Python } from '../support/python.ts';
import { ensurePython, runPython } from '../support/python.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const script = join(root, 'test', 'support', 'wire_compat.py');

const ourSet = describedSet();
const ours = createFileRegistry(ourSet);
const ourFiles = [...ours.files].filter((file) => !file.name.startsWith('google/protobuf/'));
const paths = ourFiles.map((file) => file.proto.name);
const messages = ourFiles.flatMap((file) => file.messages.flatMap(withNested));
const enums = [...ourFiles.flatMap((file) => file.enums), ...messages.flatMap((message) => message.nestedEnums)];
const services = ourFiles.flatMap((file) => file.services);

let python: Python;
let upstream: FileRegistry;

beforeAll(async () => {
  python = await ensurePython();
  const { set } = (await runPython(python, script, ['describe'], { files: paths })) as { set: string };
  upstream = createFileRegistry(fromBinary(FileDescriptorSetSchema, Buffer.from(set, 'base64')));
});

describe('our definitions are a part of upstream', () => {
  it.each(messages.map((message) => [message.typeName, message] as const))('message %s', (_, message) => {
    expect(messageDifferences(message, upstream)).toEqual([]);
  });

  it.each(enums.map((desc) => [desc.typeName, desc] as const))('enum %s', (_, desc) => {
    expect(enumDifferences(desc, upstream)).toEqual([]);
  });

  it.each(services.map((service) => [service.typeName, service] as const))('service %s', (_, service) => {
    expect(serviceDifferences(service, upstream)).toEqual([]);
  });

  it.each([
    ['a field number', 'number', 15],
    ['a field name', 'name', 'other'],
    ['a field type', 'type', 13],
    ['a field label', 'label', 3],
  ] as const)('the comparison notices a change of %s', (_, property, value) => {
    const set = describedSet();
    const file = set.file.find((f) => f.name === 'envoy/service/ext_proc/v3/external_processor.proto');
    const field = file?.messageType.find((m) => m.name === 'HttpBody')?.field[1];
    Object.assign(field ?? {}, { [property]: value });
    const changed = createFileRegistry(set).getMessage('envoy.service.ext_proc.v3.HttpBody')!;

    expect(messageDifferences(changed, upstream)).toHaveLength(1);
  });
});

describe('bytes cross in both directions', () => {
  it('every message decodes with fields we do not know, and what we encode is what upstream wrote of our fields', async () => {
    const types = messages.map((message) => message.typeName);
    const samples = (await runPython(python, script, ['samples'], { files: paths, types })) as Sample[];
    const codecs = await loadCodecs();

    const pairs = samples.map(({ type, title, bytes }) => {
      const codec = codecs.get(type)!;
      const decoded = codec.decode(Buffer.from(bytes, 'base64'));
      return { type, title, upstream: bytes, ours: base64(codec.encode(decoded).finish()) };
    });

    expect(new Set(samples.map((sample) => sample.type))).toEqual(new Set(types));
    expect(samples.length).toBeGreaterThan(types.length * 2);
    const set = base64(toBinary(FileDescriptorSetSchema, ourSet));
    expect(await runPython(python, script, ['compare'], { files: paths, set, pairs })).toEqual([]);
  });

  it('upstream reads a pick as we mean it', async () => {
    const bytes = ProcessingResponse.encode({
      response: {
        $case: 'requestBody',
        value: {
          response: {
            headerMutation: {
              setHeaders: [
                { header: { key: 'x-request-id', rawValue: Buffer.from('é') }, append: false, appendAction: 2 },
              ],
              removeHeaders: ['x-smg-target-worker'],
            },
          },
        },
      },
      dynamicMetadata: { 'envoy.lb': { strict: '1' }, picker: { pick_id: 'p-1' } },
      modeOverride: { requestBodyMode: 3 },
      overrideMessageTimeout: { seconds: 30n, nanos: 500_000_000 },
    }).finish();

    const [seen] = (await runPython(python, script, ['text'], {
      files: paths,
      messages: [{ type: 'envoy.service.ext_proc.v3.ProcessingResponse', bytes: base64(bytes) }],
    })) as unknown[];

    expect(seen).toEqual({
      request_body: {
        response: {
          header_mutation: {
            set_headers: [
              {
                header: { key: 'x-request-id', raw_value: base64(Buffer.from('é')) },
                append: false,
                append_action: 'OVERWRITE_IF_EXISTS_OR_ADD',
              },
            ],
            remove_headers: ['x-smg-target-worker'],
          },
        },
      },
      dynamic_metadata: { 'envoy.lb': { strict: '1' }, picker: { pick_id: 'p-1' } },
      mode_override: { request_body_mode: 'BUFFERED_PARTIAL' },
      override_message_timeout: '30.500s',
    });
  });

  it.each([
    {
      title: 'a request',
      decode: (bytes: Buffer): unknown => ProcessingRequest.decode(bytes).protocolConfig?.requestBodyMode,
      type: 'envoy.service.ext_proc.v3.ProcessingRequest',
      value: { protocol_config: { request_body_mode: 'FULL_DUPLEX_STREAMED' } },
      expected: 4,
    },
    {
      title: 'a log entry',
      decode: (bytes: Buffer): unknown => {
        const { logEntries } = StreamAccessLogsMessage.decode(bytes);
        return logEntries?.value.logEntry?.map((entry) => [
          entry.commonProperties?.accessLogType,
          entry.commonProperties?.metadata?.filterMetadata?.['picker']?.['pick_id'],
          entry.commonProperties?.customTags?.['worker'],
          entry.response?.responseCode,
        ]);
      },
      type: 'envoy.service.accesslog.v3.StreamAccessLogsMessage',
      value: {
        http_logs: {
          log_entry: [
            {
              common_properties: {
                access_log_type: 'DownstreamEnd',
                metadata: { filter_metadata: { picker: { pick_id: 'p-1' } } },
                custom_tags: { worker: 'w' },
              },
              response: { response_code: 200 },
            },
          ],
        },
      },
      expected: [[AccessLogType.DownstreamEnd, 'p-1', 'w', 200]],
    },
  ])('we read $title as upstream means it', async ({ decode, type, value, expected }) => {
    const [bytes] = (await runPython(python, script, ['encode'], {
      files: paths,
      messages: [{ type, value }],
    })) as string[];

    expect(decode(Buffer.from(bytes!, 'base64'))).toEqual(expected);
  });
});

interface Sample {
  readonly type: string;
  readonly title: string;
  readonly bytes: string;
}

interface Codec {
  encode(message: unknown): BinaryWriter;
  decode(bytes: Uint8Array): unknown;
}

function describedSet(): FileDescriptorSet {
  return create(FileDescriptorSetSchema, {
    file: DESCRIBED_FILES.map((file) => fromBinary(FileDescriptorProtoSchema, Buffer.from(file.base64, 'base64'))),
  });
}

function withNested(message: DescMessage): DescMessage[] {
  return [message, ...message.nestedMessages.flatMap(withNested)];
}

async function loadCodecs(): Promise<ReadonlyMap<string, Codec>> {
  const codecs = new Map<string, Codec>();
  for (const message of messages) {
    const module = (await import(join(root, 'src', 'gen', `${message.file.name}.ts`))) as Record<string, Codec>;
    const local = message.typeName.slice(message.file.proto.package.length + 1).replaceAll('.', '_');
    codecs.set(message.typeName, module[local]!);
  }
  return codecs;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
