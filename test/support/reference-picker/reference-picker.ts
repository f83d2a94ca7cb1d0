import { Conversation, type PickerCall } from './conversation.ts';
import type { Fault } from './fault.ts';
import { Fleet } from './fleet.ts';

export interface ReferencePickerOptions {
  readonly endpoints: readonly string[];
  readonly fault?: Fault | null;
  /** Sheds every request that it could place. */
  readonly overloaded?: boolean;
  /** The switch of the gateways' suite. */
  readonly testSelection?: boolean;
}

const HEALTH_NAMES = ['liveness', 'readiness', 'envoy.service.ext_proc.v3.ExternalProcessor'];

/**
 * The smallest endpoint picker that follows the protocol to the letter, with nothing of the product in it: what the conformance
 * checks are held against, whole and with one fault at a time.
 */
export class ReferencePicker {
  readonly fault: Fault | null;
  readonly #options: ReferencePickerOptions;
  readonly #fleet: Fleet;

  constructor(options: ReferencePickerOptions) {
    this.fault = options.fault ?? null;
    this.#options = options;
    this.#fleet = new Fleet(options.endpoints);
  }

  /** Takes a stream of the processor. */
  process(call: PickerCall): void {
    new Conversation(call, this.#fleet, this.#options);
  }

  /** Whether its health service knows the name; what it knows serves. */
  knows(name: string): boolean {
    if (this.fault === 'any health name serves') return true;
    if (this.fault === 'health by an own name') return name === 'inference-extension' || name === HEALTH_NAMES[2];
    return HEALTH_NAMES.includes(name);
  }
}
