import { Redis } from 'ioredis';
import { freePort } from './ports.ts';
import { type RedisHandle, startServer } from './redis.ts';
import { until } from './until.ts';

const SLOTS = 16_384;
const SIZE = 3;

/** Three masters without replicas; a slot that nobody serves makes all of them refuse. */
export interface RedisClusterHandle {
  /** For `--pin-store`. */
  readonly url: string;
  readonly nodes: readonly RedisHandle[];
  /** A connection to each node alone, which follows no redirections. */
  readonly clients: readonly Redis[];
  /** Names of the nodes among themselves. */
  readonly ids: readonly string[];
  /** Index of the node that serves a slot. */
  owner(slot: number): Promise<number>;
  stop(): Promise<void>;
}

export async function startCluster(): Promise<RedisClusterHandle> {
  const nodes: RedisHandle[] = [];
  const clients: Redis[] = [];
  const stop = async (): Promise<void> => {
    for (const client of clients) client.disconnect();
    await Promise.all(nodes.map((node) => node.stop()));
  };
  try {
    const busPorts = await Promise.all(Array.from({ length: SIZE }, () => freePort()));
    nodes.push(...(await Promise.all(busPorts.map(startNode))));
    for (const { url } of nodes) {
      const client = new Redis(url, { retryStrategy: () => 20 });
      client.on('error', () => {});
      clients.push(client);
    }
    await join(nodes, clients, busPorts);
    const ids = await Promise.all(clients.map(async (client) => String(await client.cluster('MYID'))));
    const ports = nodes.map(portOf);
    return {
      url: `redis+cluster://${ports.map((port) => `127.0.0.1:${port}`).join(',')}`,
      nodes,
      clients,
      ids,
      owner: async (slot) => {
        for (const [first, last, node] of await clients[0]!.cluster('SLOTS')) {
          if (slot >= first && slot <= last) return ports.indexOf(node?.[1] ?? 0);
        }
        throw new Error(`no node has slot ${slot}`);
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function startNode(busPort: number): Promise<RedisHandle> {
  const args = ['--cluster-enabled', 'yes', '--cluster-port', String(busPort), '--cluster-node-timeout', '1000'];
  return startServer(args);
}

/** Gives each node a third of the slots, and waits until all agree. */
async function join(nodes: readonly RedisHandle[], clients: readonly Redis[], busPorts: readonly number[]) {
  const slots = Array.from({ length: SLOTS }, (_, slot) => slot);
  for (const [index, client] of clients.entries()) {
    const own = slots.filter((slot) => Math.floor((slot * SIZE) / SLOTS) === index);
    await client.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1);
    await client.call('CLUSTER', 'ADDSLOTS', ...own);
    if (index > 0) await clients[0]!.call('CLUSTER', 'MEET', '127.0.0.1', portOf(nodes[index]!), busPorts[index]!);
  }
  for (const client of clients) {
    await until(async () => {
      const info = String(await client.cluster('INFO'));
      return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${SIZE}`);
    }, 'the Cluster is whole');
  }
}

function portOf({ url }: RedisHandle): number {
  return Number(new URL(url).port);
}
