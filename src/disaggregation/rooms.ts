/** Fills the bytes with chance; `crypto.randomFillSync` in production. */
export type FillRandom = (bytes: Buffer) => unknown;

/** Number of a bootstrap room, in decimal: 0 to 2^63 − 1, more than a JSON number of JavaScript can tell (policies 4.3). */
export function drawRoom(fill: FillRandom): string {
  const bytes = Buffer.alloc(8);
  fill(bytes);
  return (bytes.readBigUInt64BE() >> 1n).toString();
}

/** `xfer-` and a UUID of version 7 (RFC 9562 5.7), the id of a Mooncake transfer (policies 4.4). */
export function drawTransferId(fill: FillRandom, epochMs: number): string {
  const bytes = Buffer.alloc(16);
  fill(bytes);
  bytes.writeUIntBE(epochMs, 0, 6);
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  const hex = bytes.toString('hex');
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)];
  return `xfer-${parts.join('-')}`;
}
