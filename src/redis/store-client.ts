/** What the adapters ask of the store. Keys come first in `args` where a command has keys; a script names them. */
export interface StoreClient {
  /** Begins every key and every channel: `smg-envoy`. */
  readonly prefix: string;
  /** Rejects with a `StoreError`, at once while there is no connection: nothing is queued for later. */
  run(command: string, args: readonly (string | number)[]): Promise<unknown>;
  /** A Lua script that is sent whole only to a server that does not know it. */
  script(lua: string): StoreScript;
  /** False while there is no connection: nothing was sent. Never waits. */
  publish(channel: string, message: string): boolean;
  /** Listens for the messages of a channel, also over lost connections. Answers with the end of it. */
  subscribe(channel: string, listener: (message: string) => void): () => void;
}

/** Runs one script. Several calls in one turn of the event loop share their way to the store. */
export type StoreScript = (keys: readonly string[], args: readonly (string | number)[]) => Promise<unknown>;
