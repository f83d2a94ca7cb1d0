import type { Call, CallHandler, GrpcStatus, Method } from '../../src/transport/transport.ts';

/** The client's side of a call in a unit test: records what a method sends, and reports the end as a transport does. */
export class FakeCall implements Call {
  readonly sent: Buffer[] = [];
  /** Status the method ended the call with, null while it is open or when the client left. */
  status: GrpcStatus | null = null;
  details = '';
  readonly #handler: CallHandler;
  #over = false;

  readonly #metadata: Readonly<Record<string, string>>;

  constructor(method: Method, metadata: Readonly<Record<string, string>> = {}) {
    this.#metadata = metadata;
    this.#handler = method.open(this);
  }

  get over(): boolean {
    return this.#over;
  }

  metadata(name: string): string | undefined {
    return this.#metadata[name];
  }

  send(message: Uint8Array): void {
    if (!this.#over) this.sent.push(Buffer.from(message));
  }

  /** As the next message would. */
  release(message: Buffer): void {
    message.fill(0xff);
  }

  end(status: GrpcStatus = 0, details = ''): void {
    if (this.#over) return;
    this.status = status;
    this.details = details;
    this.#close();
  }

  /** The client sends a message. */
  receive(bytes: Uint8Array): void {
    if (!this.#over) this.#handler.message(Buffer.from(bytes));
  }

  /** The client says that it will send no more. */
  halfClose(): void {
    if (!this.#over) this.#handler.halfClosed();
  }

  /** The client, or its connection, is gone. */
  leave(): void {
    if (!this.#over) this.#close();
  }

  #close(): void {
    this.#over = true;
    this.#handler.closed();
  }
}

/** The method with that name among a service's methods. */
export function methodNamed(methods: readonly Method[], name: string): Method {
  const method = methods.find(({ path }) => path.endsWith(`/${name}`));
  if (method === undefined) throw new Error(`no method ${name}`);
  return method;
}
