import { figure, size, table } from './format.mjs';

export function decisionTable({ decisions }) {
  return table(
    ['one request', 'time', 'allocated'],
    decisions.map(({ name, micros, bytes }) => [name, figure(micros, 'µs'), size(bytes)]),
  );
}

export function snapshotTable({ snapshot }) {
  return table(
    ['', ...snapshot.map(({ workers }) => `${figure(workers)} workers`)],
    [['a change of the fleet (new snapshot)', ...snapshot.map(({ micros }) => figure(micros, 'µs'))]],
  );
}

export function pinsTable({ pins }) {
  const replaced = pins.every((row) => row.bytesAfterReplacements !== undefined);
  return table(
    [
      'pins',
      'memory of one, beside its key',
      ...(replaced ? ['after as many replacements'] : []),
      'look-up',
      'write of a new one at the cap',
      'longest single write while filling',
    ],
    pins.map((row) => [
      figure(row.pins),
      figure(row.bytesPerPin, 'bytes'),
      ...(replaced ? [figure(row.bytesAfterReplacements, 'bytes')] : []),
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

/** Processor time of the service, with the transport and the network of the machine in it. */
export function protocolsTable({ protocols }) {
  return table(
    ['a request placed by', 'ext_proc', 'ext_authz', 'ratio'],
    protocols.map(({ hint, extProcMicros, extAuthzMicros, ratio }) => [
      `\`${hint}\``,
      figure(extProcMicros, 'µs'),
      figure(extAuthzMicros, 'µs'),
      figure(ratio),
    ]),
  );
}
