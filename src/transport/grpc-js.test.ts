import { grpcJsTransport } from './grpc-js.ts';
import { transportSuite } from './transport.suite.ts';

transportSuite('grpc-js', grpcJsTransport);
