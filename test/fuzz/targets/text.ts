import { grpcTimeoutMs } from '../../../src/transport/http2/grpc-timeout.ts';
import { percentEncode } from '../../../src/transport/http2/percent-encode.ts';
import { alike, same } from '../lib/expect.ts';
import type { Random } from '../lib/random.ts';
import type { Target } from '../lib/target.ts';

const UNITS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };

/** Small texts of gRPC: `grpc-timeout` in, `grpc-message` out. */
export function textTarget(): Target {
  return {
    name: 'text',
    sources: ['/src/transport/http2/grpc-timeout', '/src/transport/http2/percent-encode'],
    tokens: ['1', '99999999', '100000000', 'H', 'M', 'S', 'm', 'u', 'n', '-', ' ', '.', '%', '\ud83d'].map((text) =>
      Buffer.from(text),
    ),
    slowMs: 30,
    generate(random: Random): Buffer {
      if (random.once(2))
        return Buffer.from(`${random.size(2 ** 31)}${random.pick(['H', 'M', 'S', 'm', 'u', 'n', 's', ''])}`);
      return Buffer.from(Array.from({ length: random.size(60) }, () => random.below(256)));
    },
    check(input: Buffer): void {
      const text = input.toString('latin1');
      const [, digits, unit] = /^(\d{1,8})([HMSmun])$/.exec(text) ?? [];
      const wanted = digits === undefined || unit === undefined ? null : Number(digits) * UNITS[unit]!;
      same('grpc-timeout', text.includes('\n') ? null : grpcTimeoutMs(text), text.includes('\n') ? null : wanted);

      for (const message of [input.toString('utf8'), text]) {
        const encoded = percentEncode(message);
        same('printable ASCII', /^[ -~]*$/.test(encoded), true);
        alike('decodes to the same bytes', decoded(encoded), Buffer.from(message));
      }
    },
  };
}

function decoded(text: string): Buffer {
  return Buffer.from(
    text.replaceAll(/%([0-9A-F]{2})/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );
}
