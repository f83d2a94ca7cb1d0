import { EventEmitter } from 'node:events';
import type { Connection, HealthAnswer } from '../../../src/conformance/connection.ts';
import type { StreamEnd } from '../../../src/conformance/message.ts';
import { type ProcessCall, ProcessStream } from '../../../src/conformance/process-stream.ts';
import {
  ProcessingRequest,
  ProcessingResponse,
} from '../../../src/gen/envoy/service/ext_proc/v3/external_processor.ts';
import type { PickerCall } from './conversation.ts';
import type { ReferencePicker } from './reference-picker.ts';

/**
 * A reference picker without a network: messages pass as bytes, in order, each in a turn of its own. What HTTP/2 and gRPC add,
 * as limits, is not here.
 */
export class DirectConnection implements Connection {
  readonly #picker: ReferencePicker;
  readonly #timeoutMs: number;

  constructor(picker: ReferencePicker, timeoutMs: number) {
    this.#picker = picker;
    this.#timeoutMs = timeoutMs;
  }

  async ready(): Promise<void> {}

  open(): ProcessStream {
    const call = new DirectCall();
    this.#picker.process(call.picker);
    return new ProcessStream(call, this.#timeoutMs);
  }

  async check(service: string): Promise<HealthAnswer> {
    return this.#picker.knows(service) ? { code: 0, serving: 1 } : { code: 5, serving: null };
  }

  async watch(service: string): Promise<HealthAnswer> {
    return { code: 0, serving: this.#picker.knows(service) ? 1 : 3 };
  }

  close(): void {}
}

/** The client's end of a stream; `picker` is the other one. */
class DirectCall extends EventEmitter implements ProcessCall {
  readonly writableNeedDrain = false;
  readonly picker = new PickerEnd(this);
  #over = false;

  write(message: ProcessingRequest): boolean {
    const bytes = Buffer.from(ProcessingRequest.encode(message).finish());
    this.#later(() => this.picker.emit('data', ProcessingRequest.decode(bytes)));
    return true;
  }

  end(): void {
    this.#later(() => this.picker.emit('end'));
  }

  cancel(): void {
    this.#finish({ code: 1, details: 'cancelled' });
    this.picker.emit('cancelled');
  }

  /** From the picker. */
  give(message: ProcessingResponse): void {
    const bytes = Buffer.from(ProcessingResponse.encode(message).finish());
    this.#later(() => this.emit('data', ProcessingResponse.decode(bytes)));
  }

  /** From the picker. */
  close(end: StreamEnd): void {
    this.#later(() => this.#finish(end));
  }

  #finish(end: StreamEnd): void {
    this.#over = true;
    this.emit('status', end);
  }

  #later(deliver: () => void): void {
    setImmediate(() => {
      if (!this.#over) deliver();
    });
  }
}

class PickerEnd extends EventEmitter implements PickerCall {
  readonly #client: DirectCall;

  constructor(client: DirectCall) {
    super();
    this.#client = client;
    this.on('error', (end: StreamEnd) => client.close(end));
  }

  write(message: ProcessingResponse): void {
    this.#client.give(message);
  }

  end(): void {
    this.#client.close({ code: 0, details: '' });
  }
}
