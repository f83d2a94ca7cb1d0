interface CurlLine {
  readonly why: string;
  readonly line: (url: string) => string;
}

const chat = (url: string, headers: string, members: string): string =>
  `curl -is ${url}/v1/chat/completions -H 'content-type: application/json'${headers} ` +
  `-d '{"model":"sim-model",${members}"messages":[{"role":"user","content":"Hello"}]}'`;

/** What the demo offers to paste. */
export const CURL: readonly CurlLine[] = [
  { why: 'a conversation, known by "rid" in the body', line: (url) => chat(url, '', '"rid":"chat-1_t1",') },
  { why: 'its next turn: the same worker', line: (url) => chat(url, '', '"rid":"chat-1_t2",') },
  {
    why: 'another one, known by a header: the same worker each time',
    line: (url) => chat(url, " -H 'x-smg-routing-key: alice'", ''),
  },
];
