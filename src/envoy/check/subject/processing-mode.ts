import type { ConfigNode } from '../config-node.ts';

/** A processing mode of ext_proc with Envoy's defaults filled in; undefined is what a patch leaves open. */
export interface ProcessingMode {
  /** Where it is written. */
  readonly at: ConfigNode;
  readonly requestHeaders: string | undefined;
  readonly responseHeaders: string | undefined;
  readonly requestBody: string | undefined;
  readonly responseBody: string | undefined;
  readonly requestTrailers: string | undefined;
  readonly responseTrailers: string | undefined;
}

const HEADER_MODES = ['DEFAULT', 'SEND', 'SKIP'];
const BODY_MODES = ['NONE', 'STREAMED', 'BUFFERED', 'BUFFERED_PARTIAL', 'FULL_DUPLEX_STREAMED', 'GRPC'];

export function processingModeOf(at: ConfigNode): ProcessingMode {
  return {
    at,
    requestHeaders: headerMode(at.get('request_header_mode'), 'SEND'),
    responseHeaders: headerMode(at.get('response_header_mode'), 'SEND'),
    requestBody: at.get('request_body_mode').choice(BODY_MODES, 'NONE'),
    responseBody: at.get('response_body_mode').choice(BODY_MODES, 'NONE'),
    requestTrailers: headerMode(at.get('request_trailer_mode'), 'SKIP'),
    responseTrailers: headerMode(at.get('response_trailer_mode'), 'SKIP'),
  };
}

function headerMode(node: ConfigNode, fallback: string): string | undefined {
  const value = node.choice(HEADER_MODES, 'DEFAULT');
  return value === 'DEFAULT' ? fallback : value;
}

/** Left to the default: an entry of `allowed_override_modes` with such a field never matches (envoy 4.2). */
export function isUnsetMode(node: ConfigNode): boolean {
  return node.choice(HEADER_MODES, 'DEFAULT') === 'DEFAULT';
}

/** The whole body, or its beginning, comes in one message. */
export function isBuffered(mode: string | undefined): boolean {
  return mode === 'BUFFERED' || mode === 'BUFFERED_PARTIAL';
}

export function isFullDuplex({ requestBody, responseBody }: ProcessingMode): boolean {
  return requestBody === 'FULL_DUPLEX_STREAMED' || responseBody === 'FULL_DUPLEX_STREAMED';
}
