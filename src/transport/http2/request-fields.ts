import type { FieldSink } from './hpack/decoder.ts';

/** RFC 9113 6.5.2: what a field counts beside its name and value. */
const FIELD_OVERHEAD = 32;
const NO_LENGTH = -1;

/**
 * The fields of one header block, checked as RFC 9113 8.2 and 8.3 want. One object serves all blocks of a connection; a request
 * takes its list along.
 */
export class RequestFields implements FieldSink {
  readonly #maxBytes: number;
  method = '';
  path = '';
  contentType = '';
  timeout = '';
  encoding = '';
  /** -1 without the field. */
  contentLength = NO_LENGTH;
  /** Regular fields: name, value, name, value, … */
  list: string[] = [];
  /** The block breaks the rules for messages (RFC 9113 8.1.1). */
  malformed = false;
  /** The list is longer than we announced; what came after that was dropped. */
  tooLarge = false;
  #scheme = '';
  #authority = '';
  #bytes = 0;
  #trailers = false;

  /** @param maxBytes SETTINGS_MAX_HEADER_LIST_SIZE */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @param trailers a block that ends a message: no pseudo-header fields (RFC 9113 8.1) */
  begin(trailers: boolean): void {
    this.method = '';
    this.path = '';
    this.contentType = '';
    this.timeout = '';
    this.encoding = '';
    this.contentLength = NO_LENGTH;
    this.list = [];
    this.malformed = false;
    this.tooLarge = false;
    this.#scheme = '';
    this.#authority = '';
    this.#bytes = 0;
    this.#trailers = trailers;
  }

  field(name: string, value: string): void {
    this.#bytes += name.length + value.length + FIELD_OVERHEAD;
    if (this.#bytes > this.#maxBytes) {
      this.tooLarge = true;
      return;
    }
    if (!isFieldValue(value)) this.malformed = true;
    if (name.charCodeAt(0) === COLON) this.#pseudo(name, value);
    else this.#regular(name, value);
  }

  /** After the last field: what a request must have (RFC 9113 8.3.1). */
  finish(): void {
    if (this.#trailers || this.tooLarge) return;
    if (this.method === '' || this.#scheme === '' || this.path === '') this.malformed = true;
  }

  #pseudo(name: string, value: string): void {
    if (this.#trailers || this.list.length > 0 || value === '') this.malformed = true;
    switch (name) {
      case ':method':
        this.method = this.#once(this.method, value);
        break;
      case ':path':
        this.path = this.#once(this.path, value);
        break;
      case ':scheme':
        this.#scheme = this.#once(this.#scheme, value);
        break;
      case ':authority':
        // Not judged: gateways name a cluster here, such as `outbound|9002||picker` (RFC 9113 8.3.1).
        this.#authority = this.#once(this.#authority, value);
        break;
      default:
        this.malformed = true;
    }
  }

  #once(before: string, value: string): string {
    if (before !== '') this.malformed = true;
    return value;
  }

  #regular(name: string, value: string): void {
    switch (name) {
      case 'content-type':
        this.contentType = value;
        break;
      case 'grpc-timeout':
        this.timeout = value;
        break;
      case 'grpc-encoding':
        this.encoding = value;
        break;
      case 'te':
        if (value !== 'trailers') this.malformed = true;
        break;
      case 'content-length':
        this.#length(value);
        break;
      // RFC 9113 8.2.2.
      case 'connection':
      case 'keep-alive':
      case 'proxy-connection':
      case 'transfer-encoding':
      case 'upgrade':
        this.malformed = true;
        break;
      default:
        if (!isFieldName(name)) this.malformed = true;
    }
    this.list.push(name, value);
  }

  #length(value: string): void {
    let length = 0;
    for (let i = 0; i < value.length; i++) {
      const digit = value.charCodeAt(i) - 0x30;
      if (digit < 0 || digit > 9) this.malformed = true;
      length = length * 10 + digit;
    }
    if (value === '' || (this.contentLength !== NO_LENGTH && this.contentLength !== length)) this.malformed = true;
    this.contentLength = length;
  }
}

const COLON = 0x3a;
const SPACE = 0x20;
const TAB = 0x09;

/** RFC 9113 8.2.1: no upper case, nothing below or beside the visible characters, no colon. */
function isFieldName(name: string): boolean {
  for (let i = 0; i < name.length; i++) {
    const char = name.charCodeAt(i);
    if (char <= SPACE || (char >= 0x41 && char <= 0x5a) || char === COLON || char >= 0x7f) return false;
  }
  return name.length > 0;
}

/** RFC 9113 8.2.1: no line ends or zeros, no white space at either end. */
function isFieldValue(value: string): boolean {
  for (let i = 0; i < value.length; i++) {
    const char = value.charCodeAt(i);
    if (char < SPACE && (char === 0 || char === 0x0a || char === 0x0d)) return false;
  }
  return !isBlank(value.charCodeAt(0)) && !isBlank(value.charCodeAt(value.length - 1));
}

function isBlank(char: number): boolean {
  return char === SPACE || char === TAB;
}
