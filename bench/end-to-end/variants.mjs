/** What is compared. The first of each body size is plain Envoy, which the others are held against. */

const OVERRIDE = ['--policy', 'round_robin', '--routing-key-override'];
const HEADER = [...OVERRIDE, '--routing-key-order', 'header-first'];
const KIB = 1024;

/** `flags`: of the service, null for plain Envoy. `key`: where the client puts the key. */
export const VARIANTS = [
  { name: 'plain-1k', title: 'plain Envoy, 1 KB', flags: null, key: 'none', bodyBytes: KIB },
  { name: 'header-1k', title: 'header key, 1 KB', flags: HEADER, key: 'header', bodyBytes: KIB },
  { name: 'rid-1k', title: 'body `rid`, 1 KB', flags: OVERRIDE, key: 'rid', bodyBytes: KIB },
  { name: 'plain-220k', title: 'plain Envoy, 220 KB', flags: null, key: 'none', bodyBytes: 220 * KIB },
  { name: 'header-220k', title: 'header key, 220 KB', flags: HEADER, key: 'header', bodyBytes: 220 * KIB },
  { name: 'rid-220k', title: 'body `rid`, 220 KB', flags: OVERRIDE, key: 'rid', bodyBytes: 220 * KIB },
];

export const baselineOf = ({ bodyBytes }) =>
  VARIANTS.find((each) => each.flags === null && each.bodyBytes === bodyBytes);
export const isLarge = ({ bodyBytes }) => bodyBytes > 10 * KIB;
