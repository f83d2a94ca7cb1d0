import type { Call, CallHandler, Method } from '../../transport/transport.ts';
import { DESTINATION_KEY } from '../names.ts';
import { controlHeaders } from '../pick/header-changes.ts';
import { Check } from './check.ts';
import type { ExtAuthzOptions, ExtAuthzSettings } from './settings.ts';

/** `envoy.service.auth.v3.Authorization`: one call for each request, and no stream that has to be kept (envoy 11). */
export class ExtAuthz implements Method {
  readonly path = '/envoy.service.auth.v3.Authorization/Check';
  readonly #settings: ExtAuthzSettings;

  constructor(options: ExtAuthzOptions) {
    const destinationHeader = options.destinationHeader === 'auto' ? DESTINATION_KEY : options.destinationHeader;
    this.#settings = { ...options, destinationHeader, controlHeaders: controlHeaders(destinationHeader) };
  }

  open(call: Call): CallHandler {
    return new Check(call, this.#settings);
  }
}
