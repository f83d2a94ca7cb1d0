import { STATIC_TABLE } from './static-table.ts';

/** `:status: 200` as the entry of the static table that it is (RFC 7541 6.1). */
export const indexedStatus200 = Buffer.from([0x88]);

/** A field as a literal without indexing (RFC 7541 6.2.2): it changes no table, so that the bytes are good for all connections. */
export function literalField(name: string, value: string): Buffer {
  const index = STATIC_TABLE.findIndex((entry) => entry[0] === name) + 1;
  const named = index > 0 ? integer(index, 4) : Buffer.concat([integer(0, 4), text(name)]);
  return Buffer.concat([named, text(value)]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1');
  return Buffer.concat([integer(bytes.length, 7), bytes]);
}

/** RFC 7541 5.1, in the first byte of which the other bits are zero. */
function integer(value: number, prefixBits: number): Buffer {
  const most = (1 << prefixBits) - 1;
  if (value < most) return Buffer.from([value]);
  const bytes = [most];
  let rest = value - most;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  bytes.push(rest);
  return Buffer.from(bytes);
}
