import { DESTINATION_NAMESPACE, PICKER_NAMESPACE, SUBSET_NAMESPACE } from '../names.ts';
import type { BootstrapOptions } from './options.ts';
import type { Config } from './typed.ts';

/** Headers only, one exchange, nothing of the response. */
const HEADERS_ONLY = {
  request_header_mode: 'SEND',
  response_header_mode: 'SKIP',
  request_body_mode: 'NONE',
  response_body_mode: 'NONE',
  request_trailer_mode: 'SKIP',
  response_trailer_mode: 'SKIP',
};

/** Everything of both directions. Envoy refuses full duplex without the trailers of its direction (envoy 4.6). */
export const EVERYTHING = {
  request_header_mode: 'SEND',
  response_header_mode: 'SEND',
  request_body_mode: 'FULL_DUPLEX_STREAMED',
  response_body_mode: 'FULL_DUPLEX_STREAMED',
  request_trailer_mode: 'SEND',
  response_trailer_mode: 'SEND',
};

/** What Envoy sends to the service of a request and of its response, and the metadata that goes along. */
export function processing(options: BootstrapOptions): Config {
  return options.mode === 'ext-proc-full-duplex' ? fullDuplex(options) : headersFirst();
}

function headersFirst(): Config {
  return {
    '# processing_mode': 'one exchange for a request, and no stream held while the worker generates',
    processing_mode: HEADERS_ONLY,
    '# allow_mode_override': [
      'The service asks for the body where headers do not suffice, and may ask for this mode only: BUFFERED by',
      'override can hang a request. An entry matches only when all of its fields are written out.',
    ].join('\n'),
    allow_mode_override: true,
    allowed_override_modes: [{ ...HEADERS_ONLY, request_body_mode: 'BUFFERED_PARTIAL' }],
    '# metadata_options': [
      'Envoy drops metadata of namespaces that are not listed. Forwarded: which workers a request may use, where a filter',
      'before this one says so.',
    ].join('\n'),
    metadata_options: {
      forwarding_namespaces: { untyped: [SUBSET_NAMESPACE] },
      receiving_namespaces: { untyped: [DESTINATION_NAMESPACE, PICKER_NAMESPACE] },
    },
  };
}

function fullDuplex({ envoy, failClosed }: BootstrapOptions): Config {
  return {
    ...(failClosed
      ? {}
      : {
          '# status_on_error': 'a request whose body has come cannot go on without the service all the same',
          status_on_error: { code: 'ServiceUnavailable' },
        }),
    '# processing_mode': [
      'The Endpoint Picker Protocol: the service gets all of a request and of its response, and gives every byte back.',
      'Bodies have no limit in Envoy then, and no override is possible.',
    ].join('\n'),
    processing_mode: EVERYTHING,
    ...(envoy === '1.38'
      ? {
          '# allow_content_length_header':
            'bodies keep their length, so a worker sees it when the service is lost amid a body',
          allow_content_length_header: true,
        }
      : {}),
    '# metadata_options': [
      'Envoy drops metadata of namespaces that are not listed. Forwarded: which workers a request may use, where a filter',
      'before this one says so, and which worker served.',
    ].join('\n'),
    metadata_options: {
      forwarding_namespaces: { untyped: [SUBSET_NAMESPACE, DESTINATION_NAMESPACE, PICKER_NAMESPACE] },
      receiving_namespaces: { untyped: [DESTINATION_NAMESPACE, PICKER_NAMESPACE] },
    },
  };
}
