import { selfSigned } from '../../sim/certificate.ts';
import { SERVER_NAME } from '../peers.suite.ts';
import { transportSuite } from '../transport.suite.ts';
import { http2Transport } from './http2-transport.ts';

transportSuite('http2', http2Transport);
transportSuite('http2 over TLS', http2Transport, selfSigned({ names: [SERVER_NAME], now: Date.now(), days: 1 }));
