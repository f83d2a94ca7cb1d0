/** Fields of one protobuf message, copied out one by one; null when the bytes are no message. Numbers are left out. */
export function fieldsOf(bytes: Buffer): { number: number; content: Buffer }[] | null {
  const fields: { number: number; content: Buffer }[] = [];
  let at = 0;
  const varint = (): bigint | null => {
    let value = 0n;
    for (let i = 0n; i < 10n; i++) {
      const byte = bytes[at++];
      if (byte === undefined) return null;
      value |= BigInt(byte & 0x7f) << (7n * i);
      if (byte < 128) return value;
    }
    return null;
  };
  while (at < bytes.length) {
    const tag = varint();
    if (tag === null || tag < 8n || tag > 0xffff_ffffn) return null;
    switch (Number(tag & 7n)) {
      case 0:
        if (varint() === null) return null;
        break;
      case 1:
        at += 8;
        break;
      case 2: {
        const length = varint();
        if (length === null || BigInt(at) + length > BigInt(bytes.length)) return null;
        fields.push({ number: Number(tag >> 3n), content: bytes.subarray(at, at + Number(length)) });
        at += Number(length);
        break;
      }
      case 5:
        at += 4;
        break;
      default:
        return null;
    }
    if (at > bytes.length) return null;
  }
  return fields;
}
