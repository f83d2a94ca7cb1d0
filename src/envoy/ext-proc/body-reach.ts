import type { Protocol } from './message.ts';

/** Whether the request body can reach us before Envoy has to know the worker (envoy 4.1, 4.2). */
export function canGiveBody(protocol: Protocol): boolean {
  switch (protocol.requestBodyMode) {
    case 'buffered':
    case 'buffered_partial':
    case 'full_duplex':
      return true;
    case 'none':
      return protocol.responseBodyMode !== 'full_duplex' && !protocol.sendsBodyUnasked;
    default:
      return false;
  }
}
