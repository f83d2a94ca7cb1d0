/** Header blocks of ext_proc calls on a connection that is in use, with the parts that nghttp2 makes of them. */
const { HpackDecoder } = await import('../../dist/transport/http2/hpack/decoder.js');

const bytesOf = (...hex) => Buffer.from(hex.join(''), 'hex');

/** `:path`, which nghttp2 never puts into the table, as a Huffman code. */
const PATH = '04a560b5773fa5d05b3b98855cbe5315761c8bf7657c1e525b2a1d1aec390a841ec635d8721508';
/** The first request: what the table holds from then on. */
const OPENING = bytesOf(
  '8386',
  PATH,
  // :authority
  '4185acc4ea5b3f',
  // te
  '40027465864d833505b11f',
  // content-type
  '5f8b1d75d0620d263d4c4d6564',
  // grpc-timeout
  '40899acac8b24d494f6a7f846c00053f',
  // x-envoy-internal
  '408cf2b16aee7f4b1aa496ca8747834d9697',
  // x-forwarded-for
  '408bf2b4a7b3c0ec90b22d29ec86081702e05ddf',
  // x-envoy-expected-rq-timeout-ms
  '4096f2b16aee7f4b17cd65224b22d6765926a4a7b52b528f840b60003f',
  // x-request-id
  '4089f2b585ed6950958d279772509012096799185668818d67c6db6b0c6ebaf8020003',
  // traceparent
  '40884d83216b1d85a93fa6001600e575c6c2f85c248d33248f34d3c58c41091e0040002d1ba391c8dd0b8f88200000b003',
);
const INDEXED = '8386c6c5c4c3c2c1c0bf';
/** A value of 36 bytes for x-request-id, no Huffman code. */
const ID = `0f3024${Buffer.from('6f1c55d2-83a1-4c1b-9a55-aa7790001234').toString('hex')}`;

const BLOCKS = {
  '10 indexed': { fields: 10, block: bytesOf(INDEXED) },
  '10 indexed, :path': { fields: 11, block: bytesOf(INDEXED, PATH) },
  '10 indexed, :path, an id': { fields: 12, block: bytesOf(INDEXED, PATH, ID) },
};

export function hpackCases() {
  return Object.entries(BLOCKS).map(([name, { fields, block }]) => {
    const decoder = new HpackDecoder();
    let told = 0;
    const sink = {
      field() {
        told += 1;
      },
    };
    if (!decoder.decode(OPENING, 0, OPENING.length, sink)) throw new Error('the opening was refused');
    const run = (count) => {
      told = 0;
      for (let i = 0; i < count; i++) decoder.decode(block, 0, block.length, sink);
      if (told !== count * fields) throw new Error('a block was refused');
    };
    return { name, facts: { fields, size: block.length }, run };
  });
}
