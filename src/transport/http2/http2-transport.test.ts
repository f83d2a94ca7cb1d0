import { transportSuite } from '../transport.suite.ts';
import { http2Transport } from './http2-transport.ts';

transportSuite('http2', http2Transport);
