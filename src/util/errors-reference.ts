import { HTTP_CODES, PROCESS_CODES } from './error-codes.ts';

const SPEAKERS = { service: 'the service', envoy: 'Envoy', admin: 'the admin API' } as const;

/** `docs/errors.md`: every error code. */
export function errorsReference(): string {
  const http = Object.entries(HTTP_CODES).map(
    ([code, { status, from, meaning }]) =>
      `| \`${code}\` | ${status} | ${from.map((speaker) => SPEAKERS[speaker]).join(', ')} | ${meaning} |`,
  );
  const own = Object.entries(PROCESS_CODES).map(
    ([code, { exit, meaning }]) => `| \`${code}\` | ${exit} | ${meaning} |`,
  );
  return `# Errors

Made from the tables of codes by \`node scripts/reference.mjs\`; do not edit. A code keeps its meaning between versions.

## Over HTTP

Every error of the service, of the admin API and of Envoy under the generated configuration has one shape, and repeats its
code in the header \`x-smg-error-code\`:

\`\`\`json
{"error": {"type": "Not Found", "code": "model_not_found", "message": "…", "param": null}}
\`\`\`

What Envoy refuses before any filter ran has no envelope: a malformed request, 431, 426, a missing host.

Answers of workers, errors included, pass unchanged and without that header. The status is the usual one; \`--error-style\`
changes it for some refusals.

| code | status | from | meaning |
|---|---|---|---|
${http.join('\n')}

## Of commands

A command that fails writes what is wrong to stderr, one line for each thing, and ends with the exit code: 1 when it failed
while running, 2 when flags or configuration are wrong.

| code | exit code | meaning |
|---|---|---|
${own.join('\n')}
`;
}
