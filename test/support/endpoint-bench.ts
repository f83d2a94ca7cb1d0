import type { Nack } from '../../src/envoy/endpoints/endpoint-client.ts';
import { EndpointService } from '../../src/envoy/endpoints/endpoint-service.ts';
import type { StampKind } from '../../src/envoy/endpoints/worker-stamp.ts';
import type { Worker } from '../../src/workers/worker.ts';
import { methodNamed } from './fake-call.ts';
import { makeWorker } from './fleet.ts';
import { TestSource } from './test-source.ts';
import { XdsEnvoy } from './xds-envoy.ts';

export const A = makeWorker('http://a:8000', { address: '10.0.0.1:8000' });
export const B = makeWorker('http://b:8000', { address: '10.0.0.2:8000' });
export const C = makeWorker('http://c:8000', { address: '[fd00::3]:8000' });

/** The endpoints of a fleet that is changed by hand, first A and B. */
export class EndpointBench {
  readonly source = new TestSource();
  readonly nacks: Nack[] = [];
  service: EndpointService;

  constructor() {
    this.source.set(A, B);
    this.service = this.#make('url');
  }

  /** Makes the service anew, as a restart does. */
  serve(stampKind: StampKind = 'url'): void {
    this.service.close();
    this.service = this.#make(stampKind);
  }

  connect(method = 'StreamAggregatedResources'): XdsEnvoy {
    return new XdsEnvoy(methodNamed(this.service.methods, method));
  }

  /** What a new Envoy gets. */
  shown(): ReturnType<XdsEnvoy['ack']> {
    const envoy = this.connect();
    envoy.subscribe();
    return envoy.ack();
  }

  async change(...workers: Worker[]): Promise<void> {
    this.source.set(...workers);
    await turn();
  }

  #make(stampKind: StampKind): EndpointService {
    return new EndpointService({ source: this.source, stampKind, onNack: (nack) => this.nacks.push(nack) });
  }
}

export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
