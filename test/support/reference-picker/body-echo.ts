import type { HttpBody, ProcessingResponse } from '../../../src/gen/envoy/service/ext_proc/v3/external_processor.ts';
import type { Fault } from './fault.ts';

const PIECE = 62_000;

type Side = 'request' | 'response';

/** Gives bodies back in full duplex. */
export class BodyEcho {
  readonly #fault: Fault | null;
  readonly #send: (answer: ProcessingResponse) => void;
  readonly #ended = { request: false, response: false };
  #swapped: Buffer | null = null;
  #held: Buffer[] = [];
  #dress: Partial<ProcessingResponse> = {};

  constructor(fault: Fault | null, send: (answer: ProcessingResponse) => void) {
    this.#fault = fault;
    this.#send = send;
  }

  #is(fault: Fault): boolean {
    return this.#fault === fault;
  }

  /** A piece as it comes. */
  pass(side: Side, { body = Buffer.alloc(0), endOfStream = false }: HttpBody): void {
    if (this.#ended[side]) {
      if (this.#is('repeated end sent back twice')) this.#piece(side, body, endOfStream);
      return;
    }
    this.#ended[side] = endOfStream;
    if (side === 'response' && this.#is('response held until its end')) {
      this.#held.push(body);
      if (endOfStream) this.give(side, Buffer.concat(this.#held), true);
      return;
    }
    if (side === 'response' && this.#is('response pieces swapped') && body.length > 20_000) {
      if (this.#swapped === null && !endOfStream) {
        this.#swapped = body;
        return;
      }
      this.give(side, Buffer.concat([body, this.#swapped ?? Buffer.alloc(0)]), endOfStream);
      this.#swapped = null;
      return;
    }
    this.give(side, body, endOfStream);
  }

  /** Nothing more comes: by trailers, or since it was given as a whole. */
  end(side: Side): void {
    this.#ended[side] = true;
    if (this.#held.length > 0) this.give(side, Buffer.concat(this.#held.splice(0)), false);
  }

  /** Bytes in pieces, the end on the last. */
  give(side: Side, bytes: Buffer, endOfStream: boolean): void {
    const size = this.#is('pieces of 100,000 bytes') ? 100_000 : PIECE;
    const rest = bytes.length % size;
    const length =
      rest === 1 && bytes.length > size && this.#is('last byte after 62,000 lost') ? bytes.length - 1 : bytes.length;
    const pieces: Buffer[] = [];
    for (let from = 0; from < length; from += size) pieces.push(bytes.subarray(from, Math.min(from + size, length)));
    if (pieces.length === 0 && endOfStream && !this.#is('empty body without an end')) pieces.push(Buffer.alloc(0));
    for (const [index, piece] of pieces.entries()) this.#piece(side, piece, endOfStream && index === pieces.length - 1);
  }

  /** Puts something more into the next piece. */
  dress(more: Partial<ProcessingResponse>): void {
    this.#dress = more;
  }

  #piece(side: Side, body: Buffer, endOfStream: boolean): void {
    const value = {
      response: { bodyMutation: { mutation: { $case: 'streamedResponse' as const, value: { body, endOfStream } } } },
    };
    this.#send({ response: { $case: side === 'request' ? 'requestBody' : 'responseBody', value }, ...this.#dress });
    this.#dress = {};
  }
}
