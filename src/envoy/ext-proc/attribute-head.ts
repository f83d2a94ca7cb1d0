import type { RequestHead } from '../../request/request-head.ts';
import type { Fields } from '../wire/fields.ts';

/**
 * The head of a request whose header message Envoy does not send: what the filter's `request_attributes` name, single
 * headers as `request.headers['name']` (envoy 2.3, 17).
 */
export class AttributeHead implements RequestHead {
  readonly #attributes: Fields | null;
  readonly endOfStream = false;

  constructor(attributes: Fields | null) {
    this.#attributes = attributes;
  }

  get method(): string {
    return this.#text('request.method') ?? '';
  }

  get path(): string {
    return this.#text('request.path') ?? '';
  }

  first(name: string): Uint8Array | undefined {
    const value = this.#text(`request.headers['${name}']`);
    return value === undefined ? undefined : Buffer.from(value);
  }

  #text(name: string): string | undefined {
    const value = this.#attributes?.[name];
    return typeof value === 'string' ? value : undefined;
  }
}
