import { createSocket, type Socket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';

const TYPE_A = 1;
const TYPE_AAAA = 28;
const NAME_ERROR = 3;
const SERVER_FAILURE = 2;

/** A DNS server on loopback for one test: it answers questions for addresses from a table (RFC 1035). */
export class DnsServer {
  readonly #socket: Socket = createSocket('udp4');
  readonly #names = new Map<string, readonly string[]>();
  /** Answers that it cannot answer. */
  failing = false;

  static async start(): Promise<DnsServer> {
    const server = new DnsServer();
    server.#socket.on('message', (question, from) => {
      server.#socket.send(server.#answer(question), from.port, from.address);
    });
    await new Promise<void>((resolve) => server.#socket.bind(0, '127.0.0.1', resolve));
    return server;
  }

  set(name: string, addresses: readonly string[] | null): void {
    if (addresses === null) this.#names.delete(name);
    else this.#names.set(name, addresses);
  }

  /** Asks this server alone, for IPv4 and IPv6. */
  lookUp(): (name: string) => Promise<readonly string[]> {
    const resolver = new Resolver({ timeout: 500, tries: 1 });
    resolver.setServers([`127.0.0.1:${this.#socket.address().port}`]);
    return async (name) => {
      const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
      const addresses = found.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
      const [first] = found;
      if (addresses.length === 0 && first?.status === 'rejected') throw first.reason;
      return addresses;
    };
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.#socket.close(resolve));
  }

  #answer(question: Buffer): Buffer {
    const labels: string[] = [];
    let at = 12;
    for (let length = question[at]!; length > 0; length = question[at]!) {
      labels.push(question.toString('latin1', at + 1, at + 1 + length));
      at += 1 + length;
    }
    const type = question.readUInt16BE(at + 1);
    const asked = question.subarray(12, at + 5);
    const addresses = this.#names.get(labels.join('.'));
    const code = this.failing ? SERVER_FAILURE : addresses === undefined ? NAME_ERROR : 0;
    const records = code === 0 ? (addresses ?? []).filter((ip) => ip.includes(':') === (type === TYPE_AAAA)) : [];
    const head = Buffer.alloc(12);
    question.copy(head, 0, 0, 2);
    head.writeUInt16BE(0x8180 | code, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(records.length, 6);
    return Buffer.concat([head, asked, ...records.map((ip) => record(type, ip))]);
  }
}

/** Its name is a pointer to that of the question; it may be kept for no time. */
function record(type: number, ip: string): Buffer {
  const data = type === TYPE_A ? Buffer.from(ip.split('.').map(Number)) : ipv6(ip);
  const head = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length]);
  return Buffer.concat([head, data]);
}

function ipv6(ip: string): Buffer {
  const [before = '', after = ''] = ip.split('::');
  const groups = (text: string) => text.split(':').filter(Boolean);
  const [left, right] = [groups(before), groups(after)];
  const all = [...left, ...new Array<string>(8 - left.length - right.length).fill('0'), ...right];
  return Buffer.from(all.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]));
}
