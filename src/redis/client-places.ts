import type { Cluster, Redis } from 'ioredis';
import type { StoreAddress, StoreHost } from '../util/pin-store-url.ts';
import { commandClient, subscriberClient } from './store-clients.ts';
import type { StoreError } from './store-error.ts';
import type { LoginReader } from './store-login.ts';

/** Begins connections to the store, each with the login that holds then. */
export class ClientPlaces {
  readonly #address: StoreAddress;
  readonly #logins: LoginReader;
  readonly #name: string;
  #sentinelsHaveLogin = false;

  /** @param name as `CLIENT LIST` shows it */
  constructor(address: StoreAddress, logins: LoginReader, name: string) {
    this.#address = address;
    this.#logins = logins;
    this.#name = name;
  }

  commands(): Redis | Cluster {
    return commandClient(this.#place());
  }

  /** @param known knows the nodes of a Cluster */
  subscriber(known: Redis | Cluster | null): Redis {
    return subscriberClient(this.#place(), this.#anyNode(known));
  }

  /** Sentinels are asked without a login first, as most have none; one that wants one gets that of the servers. */
  failed(error: StoreError): void {
    if (error.reason !== 'auth' || !/sentinel/i.test(error.message)) return;
    this.#sentinelsHaveLogin = !this.#sentinelsHaveLogin;
  }

  #place() {
    const login = this.#logins.read();
    return {
      address: this.#address,
      login,
      name: this.#name,
      sentinelLogin: this.#sentinelsHaveLogin ? login : null,
    };
  }

  #anyNode(known: Redis | Cluster | null): StoreHost | null {
    if (this.#address.kind !== 'cluster') return null;
    const masters = known !== null && 'nodes' in known ? known.nodes('master').map(({ options }) => options) : [];
    const nodes = masters.length > 0 ? masters : this.#address.hosts;
    const { host, port } = nodes[Math.floor(Math.random() * nodes.length)] ?? {};
    return host === undefined || port === undefined ? null : { host, port };
  }
}
