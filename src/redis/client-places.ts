import type { Cluster, Redis } from 'ioredis';
import type { StoreAddress, StoreHost } from '../util/pin-store-url.ts';
import { commandClient, subscriberClient } from './store-clients.ts';
import type { StoreError } from './store-error.ts';
import type { LoginReader } from './store-login.ts';

/** Of who has not said who he is; any other refusal is one of a login that was sent. */
const WANTS_LOGIN = /\b(NOAUTH|NOPERM)\b/;

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

  get database(): number {
    return this.#address.database;
  }

  commands(): Redis | Cluster {
    return commandClient(this.#place());
  }

  /** @param known knows the nodes of a Cluster */
  subscriber(known: Redis | Cluster | null): Redis {
    return subscriberClient(this.#place(), this.#anyNode(known));
  }

  /**
   * Sentinels are asked without a login first, as most have none; one that wants one gets that of the servers. The answer says
   * which it was, as both connections may fail at once.
   */
  failed(error: StoreError): void {
    if (error.reason !== 'auth' || !/sentinel/i.test(error.message)) return;
    this.#sentinelsHaveLogin = WANTS_LOGIN.test(error.message);
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
