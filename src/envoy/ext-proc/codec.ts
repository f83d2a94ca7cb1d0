import {
  ProcessingMode_BodySendMode,
  ProcessingMode_HeaderSendMode,
} from '../../gen/envoy/extensions/filters/http/ext_proc/v3/processing_mode.ts';
import type { HeaderMutation } from '../../gen/envoy/service/ext_proc/v3/external_processor.ts';
import { ProcessingRequest, ProcessingResponse } from '../../gen/envoy/service/ext_proc/v3/external_processor.ts';
import {
  DECISION_KEY,
  DESTINATION_KEY,
  DESTINATION_NAMESPACE,
  PICK_ID_KEY,
  PICKER_NAMESPACE,
  PREFILL_KEY,
  RANK_KEY,
  RANK_SUFFIX_KEY,
  STRICT_KEY,
} from '../names.ts';
import { HeadView } from '../pick/head-view.ts';
import type { HeaderChange, HeaderChanges } from '../pick/header-changes.ts';
import type { PickMetadata } from '../pick/pick-metadata.ts';
import type { ImmediateAnswer } from '../pick/refusal.ts';
import type { Fields } from './fields.ts';
import {
  BODY_MODES,
  type BodyMode,
  type Incoming,
  PHASES,
  type Phase,
  type PhaseAnswer,
  type Protocol,
} from './message.ts';

/** The messages of a stream as bytes. The only file that knows the generated protobuf code; pieces of bodies: `chunk-bytes.ts`. */

const EMPTY = Buffer.alloc(0);
const FILTER = 'envoy.filters.http.ext_proc';

const CASE_OF = {
  request_headers: 'requestHeaders',
  request_body: 'requestBody',
  request_trailers: 'requestTrailers',
  response_headers: 'responseHeaders',
  response_body: 'responseBody',
  response_trailers: 'responseTrailers',
} as const satisfies Record<Phase, NonNullable<ProcessingRequest['request']>['$case']>;

const PHASE_OF = {
  requestHeaders: 'request_headers',
  requestBody: 'request_body',
  requestTrailers: 'request_trailers',
  responseHeaders: 'response_headers',
  responseBody: 'response_body',
  responseTrailers: 'response_trailers',
} as const satisfies Record<NonNullable<ProcessingRequest['request']>['$case'], Phase>;

/** Null when the bytes are no message, or one of a kind that is not known. */
export function decode(bytes: Buffer): Incoming | null {
  let message: ProcessingRequest;
  try {
    message = ProcessingRequest.decode(bytes);
  } catch {
    return null;
  }
  const request = message.request;
  if (request === undefined) return null;

  let head: HeadView | null = null;
  let body: Buffer = EMPTY;
  let endOfStream = false;
  switch (request.$case) {
    case 'requestHeaders':
    case 'responseHeaders':
      endOfStream = request.value.endOfStream === true;
      head = new HeadView(request.value.headers?.headers ?? [], endOfStream);
      break;
    case 'requestBody':
    case 'responseBody':
      endOfStream = request.value.endOfStream === true;
      body = request.value.body ?? EMPTY;
      break;
    default:
      endOfStream = true;
  }
  return {
    phase: PHASE_OF[request.$case],
    head,
    endOfStream,
    body,
    protocol: protocolOf(message),
    observability: message.observabilityMode === true,
    attributes: message.attributes?.[FILTER] ?? null,
    metadata: message.metadataContext?.filterMetadata ?? null,
  };
}

function protocolOf(message: ProcessingRequest): Protocol | null {
  const config = message.protocolConfig;
  if (config === undefined) return null;
  return {
    requestBodyMode: bodyMode(config.requestBodyMode),
    responseBodyMode: bodyMode(config.responseBodyMode),
    sendsBodyUnasked: config.sendBodyWithoutWaitingForHeaderResponse === true,
  };
}

function bodyMode(wire: number | undefined): BodyMode {
  return BODY_MODES[wire ?? 0] ?? 'none';
}

/** The whole answer `CONTINUE, change nothing` to a message of each kind. */
export const CONTINUE: Readonly<Record<Phase, Buffer>> = Object.fromEntries(
  PHASES.map((phase) => [
    phase,
    encodeAnswer({ phase, changes: null, metadata: null, clearRouteCache: false, askForBody: false, body: null }),
  ]),
) as Record<Phase, Buffer>;

/**
 * Names the one mode that changes. Header and trailer modes that are left out stay what the gateway wants, such as the
 * response headers that it sends for the stamp, and our own `allowed_override_modes` match all the same (envoy 4.2).
 */
const ASK_FOR_BODY = {
  requestHeaderMode: ProcessingMode_HeaderSendMode.DEFAULT,
  responseHeaderMode: ProcessingMode_HeaderSendMode.DEFAULT,
  requestBodyMode: ProcessingMode_BodySendMode.BUFFERED_PARTIAL,
  responseBodyMode: ProcessingMode_BodySendMode.NONE,
  requestTrailerMode: ProcessingMode_HeaderSendMode.DEFAULT,
  responseTrailerMode: ProcessingMode_HeaderSendMode.DEFAULT,
};

export function encodeAnswer(answer: PhaseAnswer): Buffer {
  return bytesOf({
    response: responseOf(answer),
    ...(answer.metadata === null ? {} : { dynamicMetadata: structsOf(answer.metadata) }),
    ...(answer.askForBody ? { modeOverride: ASK_FOR_BODY } : {}),
  });
}

export function encodeImmediate(answer: ImmediateAnswer): Buffer {
  return bytesOf({
    response: {
      $case: 'immediateResponse',
      value: {
        // HttpStatus lists the known codes as an enum; any code in 200-599 is legal on the wire.
        status: { code: answer.status as never },
        headers: { setHeaders: answer.headers.map(optionOf), removeHeaders: [] },
        body: Buffer.from(answer.body),
        details: answer.details,
      },
    },
  });
}

/** Envoy waits that much longer for the answer that it is owed; it hears of it once, and up to its `max_message_timeout`. */
export function encodeMoreTime(ms: number): Buffer {
  return bytesOf({ overrideMessageTimeout: { seconds: BigInt(Math.floor(ms / 1000)), nanos: (ms % 1000) * 1e6 } });
}

function responseOf(answer: PhaseAnswer): NonNullable<ProcessingResponse['response']> {
  const headerMutation = answer.changes === null ? undefined : mutationOf(answer.changes);
  switch (answer.phase) {
    case 'request_trailers':
    case 'response_trailers':
      return { $case: CASE_OF[answer.phase], value: { headerMutation } };
    default:
      if (headerMutation === undefined && !answer.clearRouteCache && answer.body === null) {
        return { $case: CASE_OF[answer.phase], value: {} };
      }
      return {
        $case: CASE_OF[answer.phase],
        value: { response: { headerMutation, bodyMutation: bodyOf(answer), clearRouteCache: answer.clearRouteCache } },
      };
  }
}

function bodyOf({ body }: PhaseAnswer) {
  return body === null ? undefined : { mutation: { $case: 'body' as const, value: body } };
}

function mutationOf(changes: HeaderChanges): HeaderMutation {
  return { setHeaders: changes.set.map(optionOf), removeHeaders: [...changes.remove] };
}

/** Envoy reads `raw_value` only, and overwrites when `append` is unset (envoy 5.1). */
function optionOf({ name, value }: HeaderChange) {
  return { header: { key: name, rawValue: Buffer.from(value) } };
}

function structsOf(metadata: PickMetadata): Record<string, Fields> {
  const lb: Record<string, string> = { [DESTINATION_KEY]: metadata.destination };
  if (metadata.strict) lb[STRICT_KEY] = '1';
  if (metadata.prefill !== null) lb[PREFILL_KEY] = metadata.prefill;
  const picker: Record<string, string> = { [PICK_ID_KEY]: metadata.pickId };
  if (metadata.decision !== null) picker[DECISION_KEY] = metadata.decision;
  if (metadata.rank !== null) {
    picker[RANK_KEY] = String(metadata.rank);
    picker[RANK_SUFFIX_KEY] = `@${metadata.rank}`;
  }
  return { [DESTINATION_NAMESPACE]: lb, [PICKER_NAMESPACE]: picker };
}

function bytesOf(response: ProcessingResponse): Buffer {
  const bytes = ProcessingResponse.encode(response).finish();
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
