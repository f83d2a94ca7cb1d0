import { selfSigned } from '../sim/certificate.ts';
import { grpcJsTransport } from './grpc-js.ts';
import { SERVER_NAME } from './peers.suite.ts';
import { transportSuite } from './transport.suite.ts';

transportSuite('grpc-js', grpcJsTransport);
transportSuite('grpc-js over TLS', grpcJsTransport, selfSigned({ names: [SERVER_NAME], now: Date.now(), days: 1 }));
