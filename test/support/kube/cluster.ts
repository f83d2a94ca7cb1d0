import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import type { PodShape } from './pod-log.ts';
import { StandIn, TOKEN } from './stand-in.ts';

/** A cluster whose pods a test drives: the stand-in, or a real kube-apiserver. */
export interface TestCluster {
  /** Path of a kubeconfig whose user may read pods. */
  readonly kubeconfig: string;
  create(pod: PodShape): Promise<void>;
  /** Labels, address, readiness. */
  update(name: string, change: Partial<PodShape>): Promise<void>;
  /** Deletes a pod, which then has its grace period to end. */
  terminate(name: string): Promise<void>;
  /** The pod has ended. */
  remove(name: string): Promise<void>;
  /** Cuts every connection; while `away`, there are no new ones. */
  cut(): void;
  away(away: boolean): void;
  /** The server forgets its history: versions so far cannot be watched from. */
  expire(): Promise<void>;
  close(): Promise<void>;
}

/** A door to a port on loopback that a test can shut. */
export class Door {
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  #shut = false;

  constructor(port: () => number) {
    this.#server = createServer((socket) => {
      if (this.#shut) {
        socket.destroy();
        return;
      }
      const inside = connect(port(), '127.0.0.1');
      for (const each of [socket, inside]) {
        this.#sockets.add(each);
        each.on('error', () => each.destroy());
        each.on('close', () => {
          this.#sockets.delete(each);
          socket.destroy();
          inside.destroy();
        });
      }
      socket.pipe(inside).pipe(socket);
    });
  }

  async open(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  shut(shut: boolean): void {
    this.#shut = shut;
    if (shut) this.cut();
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

export function writeKubeconfig(folder: string, port: number, ca: string, token: string): string {
  const path = join(folder, 'kubeconfig');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'reader' } }],
    clusters: [
      {
        name: 'test',
        cluster: {
          server: `https://127.0.0.1:${port}`,
          'certificate-authority-data': Buffer.from(ca).toString('base64'),
        },
      },
    ],
    users: [{ name: 'reader', user: { token } }],
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}

export function clusterOf(kubeconfig: string): KubeConfig {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  return config;
}

export interface StandInCluster extends TestCluster {
  readonly server: StandIn;
}

export async function startStandIn(): Promise<StandInCluster> {
  const server = new StandIn();
  const port = await server.start();
  const door = new Door(() => port);
  const folder = mkdtempSync(join(tmpdir(), 'smg-envoy-kube-'));
  const kubeconfig = writeKubeconfig(folder, await door.open(), server.certificate.cert, TOKEN);
  const { log } = server;
  return {
    server,
    kubeconfig,
    create: async (pod) => log.create(pod),
    update: async (name, change) => log.update(name, change),
    terminate: async (name) => log.terminate(name),
    remove: async (name) => log.remove(name),
    cut: () => door.cut(),
    away: (away) => door.shut(away),
    expire: async () => log.expire(),
    async close() {
      await door.close();
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
