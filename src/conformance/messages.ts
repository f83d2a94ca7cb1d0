import type { HeaderMap, Metadata } from '../gen/envoy/config/core/v3/base.ts';
import type { ProcessingRequest, ProtocolConfiguration } from '../gen/envoy/service/ext_proc/v3/external_processor.ts';
import type { Struct } from './message.ts';
import { BODY_MODES, type Header, type Mode } from './plan.ts';

type Direction = 'request' | 'response';

/** As Envoy sends headers: lower-case names, values as raw bytes (envoy 3.1). */
function headerMap(headers: readonly Header[]): HeaderMap {
  return { headers: headers.map(([key, value]) => ({ key, rawValue: Buffer.from(value, 'latin1') })) };
}

export function headersMessage(of: Direction, headers: readonly Header[], endOfStream: boolean): ProcessingRequest {
  const value = { headers: headerMap(headers), endOfStream };
  return { request: { $case: of === 'request' ? 'requestHeaders' : 'responseHeaders', value } };
}

export function bodyMessage(of: Direction, body: Buffer, endOfStream: boolean): ProcessingRequest {
  const value = { body, endOfStream };
  return { request: { $case: of === 'request' ? 'requestBody' : 'responseBody', value } };
}

export function trailersMessage(of: Direction, trailers: readonly Header[]): ProcessingRequest {
  const value = { trailers: headerMap(trailers) };
  return { request: { $case: of === 'request' ? 'requestTrailers' : 'responseTrailers', value } };
}

/** `protocol_config`, part of a stream's first message (envoy 3.1). */
export function protocolOf(mode: Mode): ProtocolConfiguration {
  return {
    requestBodyMode: modeValue(BODY_MODES.indexOf(mode.request)),
    responseBodyMode: modeValue(BODY_MODES.indexOf(mode.response)),
  };
}

function modeValue(index: number): 0 | 1 | 2 | 3 | 4 {
  return index === 1 || index === 2 || index === 3 || index === 4 ? index : 0;
}

export function metadataOf(namespaces: Struct): Metadata {
  const filterMetadata: Record<string, Struct> = {};
  for (const [name, value] of Object.entries(namespaces)) {
    if (typeof value === 'object' && value !== null) filterMetadata[name] = value as Struct;
  }
  return { filterMetadata };
}
