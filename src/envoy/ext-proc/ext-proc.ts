import { SELECTION_HEADER } from '../../picker/endpoint-selection.ts';
import type { Call, CallHandler, Method } from '../../transport/transport.ts';
import { controlHeaders } from '../pick/header-changes.ts';
import { Session } from './session.ts';
import type { ExtProcOptions, ExtProcSettings } from './settings.ts';

/** `envoy.service.ext_proc.v3.ExternalProcessor`. */
export class ExtProc implements Method {
  readonly path = '/envoy.service.ext_proc.v3.ExternalProcessor/Process';
  readonly #settings: ExtProcSettings;
  readonly #sessions = new Set<Session>();
  readonly #forget = (session: Session): void => {
    this.#sessions.delete(session);
  };
  #draining = false;

  constructor(options: ExtProcOptions) {
    const { destinationHeader } = options;
    const extra = destinationHeader === 'auto' ? '' : destinationHeader;
    const control = controlHeaders(extra);
    const names = options.testEndpointSelection ? new Set([...control, SELECTION_HEADER]) : control;
    this.#settings = { ...options, controlHeaders: names };
  }

  /** Streams open now. */
  get openStreams(): number {
    return this.#sessions.size;
  }

  open(call: Call): CallHandler {
    const session = new Session(call, this.#settings, this.#forget);
    this.#sessions.add(session);
    if (this.#draining) session.drain();
    return session;
  }

  /** Ends streams that Envoy only holds open, now and from now on; those that are owed an answer get it first. */
  drain(): void {
    this.#draining = true;
    for (const session of this.#sessions) session.drain();
  }
}
