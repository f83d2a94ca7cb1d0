import { HeadView } from '../pick/head-view.ts';
import type { Fields } from '../wire/fields.ts';
import { HeaderSpans } from '../wire/header-spans.ts';
import { readStruct } from '../wire/struct.ts';
import { WireReader } from '../wire/wire-reader.ts';
import { BODY_MODES, type BodyMode, type Incoming, type Phase, type Protocol } from './message.ts';

/** Kinds of a `ProcessingRequest` by the number of their field. */
const PHASE_OF: readonly (Phase | undefined)[] = [
  undefined,
  undefined,
  'request_headers',
  'response_headers',
  'request_body',
  'response_body',
  'request_trailers',
  'response_trailers',
];
/** Other fields of it. */
const METADATA_CONTEXT = 8;
const ATTRIBUTES = 9;
const OBSERVABILITY_MODE = 10;
const PROTOCOL_CONFIG = 11;

const FILTER = 'envoy.filters.http.ext_proc';
const EMPTY = Buffer.alloc(0);

// One message is read at a time, and none within another: the readers serve all.
const outer = new WireReader();
const inner = new WireReader();

/**
 * One `ProcessingRequest`, read where it lies; null when the bytes are none, or one of a kind that is not known. What few
 * requests need is only found, and read when it is asked for. The generated code is the oracle of its tests.
 */
export function readMessage(bytes: Buffer): Incoming | null {
  let kind = 0;
  let from = 0;
  let to = 0;
  let observability = false;
  let protocol: Protocol | null = null;
  let attributesFrom = -1;
  let attributesTo = 0;
  let metadataFrom = -1;
  let metadataTo = 0;
  const reader = outer.open(bytes, 0, bytes.length);
  while (reader.next()) {
    const { field } = reader;
    if (field === 0) {
      if (reader.numberField === OBSERVABILITY_MODE) observability = reader.number !== 0;
    } else if (field < METADATA_CONTEXT) {
      if (PHASE_OF[field] === undefined) continue;
      kind = field;
      from = reader.from;
      to = reader.to;
    } else if (field === METADATA_CONTEXT) {
      metadataFrom = reader.from;
      metadataTo = reader.to;
    } else if (field === ATTRIBUTES) {
      const value = ofFilter(bytes, reader.from, reader.to);
      if (value < 0) continue;
      attributesFrom = value;
      attributesTo = inner.to;
    } else if (field === PROTOCOL_CONFIG) protocol = protocolOf(bytes, reader.from, reader.to);
  }
  const phase = PHASE_OF[kind];
  if (reader.broken || phase === undefined) return null;
  const message = new Message(bytes, phase, observability, protocol);
  if (!message.readContent(from, to)) return null;
  message.attributesFrom = attributesFrom;
  message.attributesTo = attributesTo;
  message.metadataFrom = metadataFrom;
  message.metadataTo = metadataTo;
  return message;
}

class Message implements Incoming {
  readonly phase: Phase;
  readonly observability: boolean;
  readonly protocol: Protocol | null;
  head: HeadView | null = null;
  endOfStream = false;
  body: Buffer = EMPTY;
  /** Where they stand in the bytes; -1: nowhere. */
  attributesFrom = -1;
  attributesTo = 0;
  metadataFrom = -1;
  metadataTo = 0;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer, phase: Phase, observability: boolean, protocol: Protocol | null) {
    this.#bytes = bytes;
    this.phase = phase;
    this.observability = observability;
    this.protocol = protocol;
  }

  get attributes(): Fields | null {
    return this.attributesFrom < 0 ? null : readStruct(this.#bytes, this.attributesFrom, this.attributesTo);
  }

  /** `Metadata.filter_metadata`: a map of structs. */
  get metadata(): Readonly<Record<string, Fields | undefined>> | null {
    if (this.metadataFrom < 0) return null;
    const found: Record<string, Fields> = {};
    const reader = new WireReader().open(this.#bytes, this.metadataFrom, this.metadataTo);
    const entry = new WireReader();
    while (reader.next()) {
      if (reader.field !== 1) continue;
      entry.open(this.#bytes, reader.from, reader.to);
      let key = '';
      let value: Fields = {};
      while (entry.next()) {
        if (entry.field === 1) key = entry.utf8();
        else if (entry.field === 2) value = readStruct(this.#bytes, entry.from, entry.to);
      }
      if (!entry.broken) found[key] = value;
    }
    return found;
  }

  /** Reads the message of this kind; false when it is broken. */
  readContent(from: number, to: number): boolean {
    switch (this.phase) {
      case 'request_headers':
      case 'response_headers':
        return this.#headers(from, to);
      case 'request_body':
      case 'response_body':
        return this.#body(from, to);
      default:
        this.endOfStream = true;
        return true;
    }
  }

  /** `HttpHeaders`. */
  #headers(from: number, to: number): boolean {
    const reader = inner.open(this.#bytes, from, to);
    let mapFrom = 0;
    let mapTo = 0;
    while (reader.next()) {
      if (reader.field === 1) {
        mapFrom = reader.from;
        mapTo = reader.to;
      } else if (reader.numberField === 3) this.endOfStream = reader.number !== 0;
    }
    const headers = new HeaderSpans(this.#bytes);
    this.head = new HeadView(headers, this.endOfStream);
    return !reader.broken && headers.addMap(mapFrom, mapTo);
  }

  /** `HttpBody`. */
  #body(from: number, to: number): boolean {
    const reader = inner.open(this.#bytes, from, to);
    while (reader.next()) {
      if (reader.field === 1) this.body = this.#bytes.subarray(reader.from, reader.to);
      else if (reader.numberField === 2) this.endOfStream = reader.number !== 0;
    }
    return !reader.broken;
  }
}

/** Start of the value of an entry of `attributes` that is ours, its end in {@link inner}; -1: of another filter, or none. */
function ofFilter(bytes: Buffer, from: number, to: number): number {
  const entry = inner.open(bytes, from, to);
  let ours = false;
  let valueFrom = -1;
  let valueTo = 0;
  while (entry.next()) {
    if (entry.field === 1) ours = entry.is(FILTER);
    else if (entry.field === 2) {
      valueFrom = entry.from;
      valueTo = entry.to;
    }
  }
  entry.to = valueTo;
  return ours ? valueFrom : -1;
}

function protocolOf(bytes: Buffer, from: number, to: number): Protocol {
  let request = 0;
  let response = 0;
  let unasked = false;
  const reader = inner.open(bytes, from, to);
  while (reader.next()) {
    if (reader.numberField === 1) request = reader.number;
    else if (reader.numberField === 2) response = reader.number;
    else if (reader.numberField === 3) unasked = reader.number !== 0;
  }
  if (request === 0 && response === 0 && !unasked) return HEADERS_ONLY;
  return { requestBodyMode: bodyMode(request), responseBodyMode: bodyMode(response), sendsBodyUnasked: unasked };
}

/** What our own configuration says. */
const HEADERS_ONLY: Protocol = { requestBodyMode: 'none', responseBodyMode: 'none', sendsBodyUnasked: false };

function bodyMode(wire: number): BodyMode {
  return BODY_MODES[wire] ?? 'none';
}
