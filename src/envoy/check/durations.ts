const UNITS: Readonly<Record<string, number>> = { ns: 1e-9, us: 1e-6, µs: 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600 };

/** Seconds of a duration of protobuf (`0.25s`) or of the gateways (`1m30s`, `200ms`, `0`); undefined for other text. */
export function parseSeconds(text: string): number | undefined {
  const trimmed = text.trim();
  if (trimmed === '0') return 0;
  if (!/^[+-]?(\d+(\.\d*)?(ns|us|µs|ms|s|m|h))+$/.test(trimmed)) return undefined;
  let seconds = 0;
  for (const [, digits, unit = 's'] of trimmed.matchAll(/(\d+(?:\.\d*)?)(ns|us|µs|ms|s|m|h)/g)) {
    seconds += Number(digits) * (UNITS[unit] ?? 0);
  }
  return trimmed.startsWith('-') ? -seconds : seconds;
}

const BYTES: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  Ki: 1024,
  Mi: 1024 ** 2,
  Gi: 1024 ** 3,
};

/** Bytes of a Kubernetes quantity (`32Ki`, `16Mi`, `1048576`); undefined for other text. */
export function parseQuantity(text: string): number | undefined {
  const [, digits, unit = ''] = /^(\d+(?:\.\d+)?)(|k|M|G|Ki|Mi|Gi)$/.exec(text.trim()) ?? [];
  return digits === undefined ? undefined : Number(digits) * (BYTES[unit] ?? 1);
}
