import type { Check } from '../check.ts';
import { bodyMessage, headersMessage, protocolOf } from '../messages.ts';
import { FULL_DUPLEX } from '../plan.ts';
import { served } from '../requests.ts';

/** E10: a worker may answer before it has the whole request, and Envoy shows its own errors as responses. */
export const earlyResponse: Check = {
  id: 'E10',
  title: 'A response that begins before the request has ended is answered, and the body still comes back',
  source: 'Envoy ext_proc: both directions have a state of their own; envoyproxy/envoy#41769',
  async run({ connection, requests }, findings) {
    for (const [name, status] of [
      ["a worker's early 400", '400'],
      ["Envoy's own 503", '503'],
    ] as const) {
      const stream = connection.open();
      const chat = requests.chat();
      const half = chat.length >> 1;
      const body = { pieces: [chat], end: 'flag' } as const;
      const headers = headersMessage('request', requests.posting(body, 'application/json'), false);
      await stream.send({ ...headers, protocolConfig: protocolOf(FULL_DUPLEX) });
      await stream.send(bodyMessage('request', chat.subarray(0, half), false));
      const lines = served(null).headers.map(([key, value]) => [key, key === ':status' ? status : value] as const);
      await stream.send(headersMessage('response', lines, true));
      const answered = (): boolean =>
        stream.entries.some((entry) => entry.from === 'picker' && entry.kind === 'responseHeaders');
      await stream.until(answered);
      const inTime = answered();
      await stream.send(bodyMessage('request', chat.subarray(half), true));
      const echoed = (): number =>
        stream.entries.reduce((sum, entry) => {
          const response = entry.from === 'picker' ? entry.message.response : undefined;
          const mutation =
            response?.$case === 'requestBody' ? response.value.response?.bodyMutation?.mutation : undefined;
          return sum + (mutation?.$case === 'streamedResponse' ? (mutation.value.body?.length ?? 0) : 0);
        }, 0);
      await stream.until(() => echoed() >= chat.length);
      stream.halfClose();
      if (!(await stream.ended())) stream.reset();
      // Nothing at all comes back from pickers that cannot stream; that is for P5.
      const complete = echoed() === 0 || echoed() === chat.length;
      findings.expect(
        inTime && complete,
        `${name} in the middle of the request body`,
        `an answer to response_headers, then the rest of ${chat.length} bytes`,
        `${inTime ? 'answered' : 'not answered'}, ${echoed()} bytes`,
      );
    }
  },
};
