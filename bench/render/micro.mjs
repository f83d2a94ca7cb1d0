import { figure, size, table } from './format.mjs';

export function decisionTable({ decisions }) {
  return table(
    ['one request', 'time', 'allocated'],
    decisions.map(({ name, micros, bytes }) => [name, figure(micros, 'µs'), size(bytes)]),
  );
}

/** A column for each number of workers. */
export function workersTable({ policies, snapshot }) {
  const counts = [...new Set(policies.map((row) => row.workers))];
  const names = [...new Set(policies.map((row) => row.name))];
  const cells = (rows) => counts.map((count) => figure(rows.find(({ workers }) => workers === count)?.micros, 'µs'));
  return table(
    ['', ...counts.map((count) => `${count} workers`)],
    [
      ...names.map((name) => [`decision, ${name}`, ...cells(policies.filter((row) => row.name === name))]),
      ['a change of the fleet (new snapshot)', ...cells(snapshot)],
    ],
  );
}

export function pinsTable({ pins }) {
  return table(
    [
      'pins',
      'memory of one, beside its key',
      'look-up',
      'write of a new one at the cap',
      'longest single write while filling',
    ],
    pins.map((row) => [
      figure(row.pins),
      figure(row.bytesPerPin, 'bytes'),
      figure(row.getMicros, 'µs'),
      figure(row.putAtCapMicros, 'µs'),
      figure(row.longestPutMs, 'ms'),
    ]),
  );
}

export function scanTable({ scan }) {
  const bodies = scan.filter((row) => row.name === 'scan');
  return table(
    ['body', 'our scan', 'JSON.parse of it', 'ratio'],
    bodies.map(({ body, size: bytes, micros }) => {
      const parse = scan.find((row) => row.name === 'JSON.parse' && row.body === body && row.size === bytes);
      return [
        `${body}, ${size(bytes)}`,
        figure(micros, 'µs'),
        figure(parse.micros, 'µs'),
        figure(micros / parse.micros),
      ];
    }),
  );
}

export function ledgerTable({ ledger }) {
  return table(
    ['requests in flight beside it', 'a request that begins and ends'],
    ledger.map(({ others, micros }) => [figure(others), figure(micros, 'µs')]),
  );
}
