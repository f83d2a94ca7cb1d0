import type { ConfigNode } from './config-node.ts';

/** Whether a `StringMatcher` matches a text. An expression that cannot be read here is taken not to match. */
export function matchesText(matcher: ConfigNode, text: string): boolean {
  const ignoreCase = matcher.get('ignore_case').bool(false) === true;
  const fold = (value: string): string => (ignoreCase ? value.toLowerCase() : value);
  const tests: Readonly<Record<string, (pattern: string) => boolean>> = {
    exact: (pattern) => fold(text) === fold(pattern),
    prefix: (pattern) => fold(text).startsWith(fold(pattern)),
    suffix: (pattern) => fold(text).endsWith(fold(pattern)),
    contains: (pattern) => fold(text).includes(fold(pattern)),
  };
  for (const [kind, test] of Object.entries(tests)) {
    const pattern = matcher.get(kind).text();
    if (pattern !== undefined) return test(pattern);
  }
  const regex = matcher.get('safe_regex', 'regex').text();
  return regex !== undefined && matchesWhole(regex, text);
}

/** Envoy's expressions match whole texts. */
function matchesWhole(regex: string, text: string): boolean {
  try {
    return new RegExp(`^(?:${regex})$`).test(text);
  } catch {
    return false;
  }
}

/** Whether one of the patterns of a `ListStringMatcher` matches. */
export function matchesAny(list: ConfigNode, text: string): boolean {
  return list
    .get('patterns')
    .items()
    .some((pattern) => matchesText(pattern, text));
}
