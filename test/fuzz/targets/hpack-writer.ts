/** Writes header blocks in every way that RFC 7541 allows, and in some that it does not. */

import type { ByteSink } from '../lib/byte-sink.ts';
import type { Random } from '../lib/random.ts';
import { huffmanCode } from '../oracles/huffman.ts';

const NAMES = [
  ':method',
  ':path',
  ':scheme',
  ':authority',
  'content-type',
  'te',
  'grpc-timeout',
  'grpc-encoding',
  'user-agent',
  'x-request-id',
  'x-a',
  '',
  'X-Upper',
  'x-envoy-internal',
];
const VALUES = [
  'POST',
  '/envoy.service.ext_proc.v3.ExternalProcessor/Process',
  'http',
  'application/grpc',
  'trailers',
  '250m',
  '',
  'a\u0000b',
  'ÿþ\u0080',
  ' padded ',
  '5000000n',
  'gzip',
];
const STATIC = 61;

export function writeBlock(sink: ByteSink, random: Random): void {
  if (random.once(8)) for (let i = random.size(3); i >= 0; i--) writeInteger(sink, 0x20, 5, tableSize(random));
  for (let fields = random.size(random.once(50) ? 300 : 12); fields > 0; fields--) {
    if (random.once(300)) writeInteger(sink, 0x20, 5, tableSize(random));
    switch (random.below(5)) {
      case 0:
      case 1:
        writeInteger(
          sink,
          0x80,
          7,
          random.once(200)
            ? random.below(2 ** 32)
            : random.below(STATIC + random.size(30)) + (random.once(500) ? 0 : 1),
        );
        break;
      case 2:
      case 3:
        writeLiteral(sink, random, 0x40, 6);
        break;
      default:
        writeLiteral(sink, random, random.pick([0x00, 0x10]), 4);
    }
  }
}

function writeLiteral(sink: ByteSink, random: Random, pattern: number, bits: number): void {
  const index = random.once(2) ? 0 : 1 + random.below(STATIC + random.size(10));
  writeInteger(sink, pattern, bits, index);
  if (index === 0) writeString(sink, random, random.pick(NAMES));
  writeString(
    sink,
    random,
    random.once(4000) ? 'v'.repeat(random.below(9000)) : random.once(3) ? word(random) : random.pick(VALUES),
  );
}

function tableSize(random: Random): number {
  return random.once(3) ? random.below(6000) : random.pick([0, 32, 64, 100, 4096]);
}

function word(random: Random): string {
  let text = '';
  for (let i = random.size(40); i > 0; i--)
    text += String.fromCharCode(random.once(10) ? random.below(256) : 0x61 + random.below(26));
  return text;
}

/** RFC 7541 5.1; now and then longer than need be. */
function writeInteger(sink: ByteSink, pattern: number, bits: number, value: number): void {
  const most = (1 << bits) - 1;
  if (value < most) {
    sink.byte(pattern | value);
    return;
  }
  sink.byte(pattern | most);
  let rest = value - most;
  for (; rest >= 128; rest = Math.floor(rest / 128)) sink.byte((rest % 128) + 128);
  sink.byte(rest);
}

/** RFC 7541 5.2. */
function writeString(sink: ByteSink, random: Random, text: string): void {
  if (random.once(2)) {
    writeInteger(sink, 0, 7, text.length + (random.once(2000) ? random.below(5) : 0));
    sink.bytes(Buffer.from(text, 'latin1'));
    return;
  }
  const bytes = huffmanCode(text, random);
  writeInteger(sink, 0x80, 7, bytes.length);
  sink.bytes(bytes);
}
