/**
 * HPACK as Envoy's encoder writes it: what is in a table is an index, names and values are Huffman-coded, a field that will
 * come again is added to the dynamic table, and of the pseudo-header fields only `:authority` is.
 */
import { huffman } from './huffman.mjs';

/** Of RFC 7541 Appendix A: what a gRPC request has of it. */
const STATIC = {
  ':authority': 1,
  ':method POST': 3,
  ':path': 4,
  ':scheme http': 6,
  'content-type': 31,
};
const STATIC_SIZE = 61;
const TABLE_BYTES = 4096;

const REQUEST_ID = literalName('x-request-id');

/** The encoder of one connection. */
export class HpackEncoder {
  /** Fields in the dynamic table, and how many were added before each. */
  #added = new Map();
  #bytes = 0;
  /** Blocks whose fields are all in the tables, by their list. */
  #known = new Map();

  /**
   * A block of constant fields, each `[name, value]`, and an `x-request-id` that never comes again.
   *
   * @param fields the same list for the same fields
   * @param requestId empty for none
   */
  block(fields, requestId) {
    const head = this.#known.get(fields) ?? this.#first(fields);
    return requestId === '' ? head : Buffer.concat([head, REQUEST_ID, string(requestId)]);
  }

  #first(fields) {
    const block = () => Buffer.concat(fields.map(([name, value]) => this.#field(name, value)));
    const first = block();
    this.#known.set(fields, block());
    return first;
  }

  #field(name, value) {
    const both = STATIC[`${name} ${value}`];
    if (both !== undefined) return integer(both, 7, 0x80);
    const added = this.#added.get(`${name} ${value}`);
    if (added !== undefined) return integer(STATIC_SIZE + this.#added.size - added, 7, 0x80);
    const known = STATIC[name] ?? 0;
    const named = known === 0 ? [string(name)] : [];
    if (name.startsWith(':') && name !== ':authority') {
      return Buffer.concat([integer(known, 4, 0), ...named, string(value)]);
    }
    this.#bytes += name.length + value.length + 32;
    if (this.#bytes > TABLE_BYTES) throw new Error('more constant fields than the table holds');
    this.#added.set(`${name} ${value}`, this.#added.size);
    // What was added before moves up in the table.
    this.#known.clear();
    return Buffer.concat([integer(known, 6, 0x40), ...named, string(value)]);
  }
}

/** The beginning of a literal that is not added to the table, RFC 7541 6.2.2. */
function literalName(name) {
  return Buffer.concat([integer(0, 4, 0), string(name)]);
}

/** RFC 7541 5.1. */
function integer(value, bits, flags) {
  const most = (1 << bits) - 1;
  if (value < most) return Buffer.from([flags | value]);
  const bytes = [flags | most];
  let left = value - most;
  for (; left >= 128; left >>= 7) bytes.push((left & 127) | 128);
  bytes.push(left);
  return Buffer.from(bytes);
}

/** RFC 7541 5.2; coded where that is shorter. */
function string(text) {
  const coded = huffman(text);
  if (coded.length < text.length) return Buffer.concat([integer(coded.length, 7, 0x80), coded]);
  return Buffer.concat([integer(text.length, 7, 0), Buffer.from(text, 'latin1')]);
}
