/** Writes protobuf messages by field number, so that they hold all that Envoy sends, our own definitions or not. */

export function varint(number, value) {
  return Buffer.concat([base128(number * 8), base128(value)]);
}

/** A field of bytes, of a text, or of a message given as its fields. */
export function field(number, value) {
  const bytes = Array.isArray(value) ? Buffer.concat(value) : Buffer.from(value);
  return Buffer.concat([base128(number * 8 + 2), base128(bytes.length), bytes]);
}

/** An entry of a map from texts. */
export function entry(number, key, value) {
  return field(number, [field(1, key), field(2, value)]);
}

function base128(value) {
  const bytes = [];
  let left = value;
  for (; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) | 128);
  bytes.push(left);
  return Buffer.from(bytes);
}

/** The five bytes before a gRPC message, and the message. */
export function framed(message) {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}
