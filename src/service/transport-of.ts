import { http2Transport } from '../transport/http2/http2-transport.ts';
import type { TransportFactory } from '../transport/transport.ts';

/** The gRPC server of `--transport`. grpc-js is loaded only where it is asked for. */
export async function transportOf(name: 'http2' | 'grpc-js'): Promise<TransportFactory> {
  if (name === 'http2') return http2Transport;
  const { grpcJsTransport } = await import('../transport/grpc-js.ts');
  return grpcJsTransport;
}
