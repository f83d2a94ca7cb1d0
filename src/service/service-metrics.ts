/** Gauges whose values live elsewhere, read at each scrape. */
import type { EndpointService } from '../envoy/endpoints/endpoint-service.ts';
import type { RequestEnds } from '../picker/request-ends.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { RELEASE_REASONS } from '../telemetry/own-metrics.ts';
import type { Transport } from '../transport/transport.ts';
import type { InFlightLedger } from '../workers/in-flight-ledger.ts';

export interface ServiceMetricsParts {
  readonly metrics: Metrics;
  readonly ledger: InFlightLedger;
  readonly ends: RequestEnds;
  readonly endpoints: EndpointService;
  readonly transport: Transport;
}

export function bindServiceMetrics({ metrics, ledger, ends, endpoints, transport }: ServiceMetricsParts): void {
  metrics.openCalls.onScrape(() => {
    metrics.openCalls.cell().value = transport.openCalls;
  });
  metrics.connections.onScrape(() => {
    metrics.connections.cell().value = transport.openConnections;
  });
  metrics.picksInFlight.onScrape(() => {
    metrics.picksInFlight.cell().value = ledger.inFlight;
  });
  metrics.releases.onScrape(() => {
    for (const reason of RELEASE_REASONS) metrics.releases.cell(reason).value = ledger.releases[reason];
  });
  metrics.logStreams.onScrape(() => {
    metrics.logStreams.cell().value = ends.logStreams;
  });
  metrics.edsVersion.onScrape(() => {
    metrics.edsVersion.cell().value = endpoints.version;
  });
  metrics.edsAnswers.onScrape(() => {
    metrics.edsAnswers.cell('ack').value = endpoints.acks;
    metrics.edsAnswers.cell('nack').value = endpoints.nacks;
  });
  metrics.edsClients.onScrape(() => {
    const { clients } = endpoints;
    metrics.edsClients.cell().value = clients.length;
    metrics.edsBehind.cell().value = clients.filter((client) => !client.current).length;
  });
}
