import type { ProcessingRequest } from '../../gen/envoy/service/ext_proc/v3/external_processor.ts';
import type { Check } from '../check.ts';
import { bodyMessage, headersMessage, protocolOf, trailersMessage } from '../messages.ts';
import { FILTER } from '../names.ts';
import { FULL_DUPLEX, type Mode, modeOf } from '../plan.ts';
import { served } from '../requests.ts';

/** E9: a data plane shows the phases that it was told to show. */
export const anyPhaseFirst: Check = {
  id: 'E9',
  title: 'A stream may begin at any phase',
  source: 'Envoy ext_proc: processing_mode',
  async run({ connection, requests }, findings) {
    const response: Mode = { request: 'none', response: 'none', trailers: true };
    const firsts: readonly (readonly [string, Mode, ProcessingRequest])[] = [
      ['response_headers', modeOf('none'), headersMessage('response', served(null).headers, false)],
      ['response_headers in full duplex', FULL_DUPLEX, headersMessage('response', served(null).headers, true)],
      ['request_body (BUFFERED)', modeOf('buffered'), bodyMessage('request', requests.chat(), true)],
      ['response_body', { ...response, response: 'buffered' }, bodyMessage('response', Buffer.from('{}'), true)],
      ['request_trailers', response, trailersMessage('request', [['x-end', '1']])],
      ['response_trailers', response, trailersMessage('response', [['x-end', '1']])],
    ];
    for (const [name, mode, message] of firsts) {
      const stream = connection.open();
      const attributes = { 'request.path': requests.path, 'request.method': 'POST' };
      await stream.send({ ...message, protocolConfig: protocolOf(mode), attributes: { [FILTER]: attributes } });
      const kind = message.request?.$case ?? null;
      const answered = await stream.until(() => stream.entries.some((it) => it.from === 'picker' && it.kind === kind));
      stream.halfClose();
      const ended = await stream.ended();
      if (!ended) stream.reset();
      const came = stream.entries.flatMap((entry) => (entry.from === 'picker' ? [entry.kind ?? 'empty'] : []));
      const status = stream.end === null ? 'no end' : `gRPC status ${stream.end.code}`;
      findings.expect(
        answered && came.length === 1 && stream.end?.code === 0,
        `a stream that begins with ${name}`,
        `one answer of that kind, gRPC status 0`,
        `${came.join(', ') || 'no answer'}, ${status}`,
      );
    }
  },
};
