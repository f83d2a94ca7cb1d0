const HEX = '0123456789ABCDEF';
const PERCENT = 0x25;
const FIRST_PLAIN = 0x20;
const LAST_PLAIN = 0x7e;

/**
 * A `grpc-message`: UTF-8, of which all but printable ASCII stands as `%XX`
 * (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md, Status-Message).
 */
export function percentEncode(text: string): string {
  let encoded = '';
  for (const byte of Buffer.from(text)) {
    encoded +=
      byte >= FIRST_PLAIN && byte <= LAST_PLAIN && byte !== PERCENT
        ? String.fromCharCode(byte)
        : `%${HEX.charAt(byte >> 4)}${HEX.charAt(byte & 15)}`;
  }
  return encoded;
}
