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
  const value = writtenMode(node);
  return value === UNSET ? fallback : value;
}

/** A header or trailer mode that is left to its default. */
export const UNSET = 'DEFAULT';

/** A header or trailer mode as `allowed_override_modes` are compared: an unset one equals no written one (envoy 4.2). */
export function writtenMode(node: ConfigNode): string | undefined {
  return node.choice(HEADER_MODES, UNSET);
}

/** The whole body, or its beginning, comes in one message. */
export function isBuffered(mode: string | undefined): boolean {
  return mode === 'BUFFERED' || mode === 'BUFFERED_PARTIAL';
}

export function isFullDuplex({ requestBody, responseBody }: ProcessingMode): boolean {
  return requestBody === 'FULL_DUPLEX_STREAMED' || responseBody === 'FULL_DUPLEX_STREAMED';
}
