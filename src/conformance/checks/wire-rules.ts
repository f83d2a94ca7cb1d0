import type { Check } from '../check.ts';
import { answersOnce, bodyForm, endsWell, headersApply, keepsRequest, overrides, type Rule } from '../rules.ts';

/** A check that holds one rule against every transcript of the tour. */
function ruleCheck(id: string, title: string, source: string, expected: string, rule: Rule): Check {
  return {
    id,
    title,
    source,
    async run({ tour }, findings) {
      for (const outcome of await tour()) {
        const breaches = rule(outcome);
        findings.expect(breaches.length === 0, outcome.title, expected, breaches.join('; ') || 'as expected');
      }
    },
  };
}

/** E1 to E6: what Envoy demands of every answer, whatever the request is. */
export const WIRE_RULES: readonly Check[] = [
  ruleCheck(
    'E1',
    'One answer for each message, of its kind, in order, nothing unasked',
    'Envoy ext_proc: one response for each request; CVE-2026-47207',
    'one answer for each message',
    answersOnce,
  ),
  ruleCheck(
    'E2',
    'A stream ends with OK, soon after the half-close of the data plane',
    'Envoy ext_proc: end of the gRPC stream',
    'gRPC status 0',
    endsWell,
  ),
  ruleCheck(
    'E3',
    'Header changes that Envoy can apply: raw_value, valid names and values, within limits',
    'Envoy ext_proc: HeaderMutation; envoyproxy/envoy#31555',
    'changes that Envoy applies',
    headersApply,
  ),
  ruleCheck(
    'E4',
    "Path, method, host, content-length and the client's own header lines stay, also repeated ones",
    'Envoy ext_proc: HeaderMutation; envoyproxy/envoy#29861',
    'the lines of the client as they were',
    keepsRequest(['x-request-id']),
  ),
  ruleCheck(
    'E5',
    'Body answers in the form of the mode: pieces of at most 64 KiB in full duplex, CONTINUE elsewhere',
    'Envoy ext_proc: BodyMutation; GIE#3035',
    'body answers of that mode',
    bodyForm,
  ),
  ruleCheck(
    'E6',
    'mode_override where Envoy hears it, and never to a mode that hangs',
    'Envoy ext_proc: mode_override; envoyproxy/envoy#29441',
    'no such override',
    overrides,
  ),
];
