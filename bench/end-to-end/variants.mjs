import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What is compared. The first of each body size is plain Envoy, which the others are held against. */

const OVERRIDE = ['--policy', 'round_robin', '--routing-key-override'];
const HEADER = [...OVERRIDE, '--routing-key-order', 'header-first'];
const GRPC_JS = ['--transport', 'grpc-js'];
const AUTHZ = ['--mode', 'ext-authz'];
const KIB = 1024;
const MIB = KIB * KIB;

/**
 * `flags`: of the service and of `envoy-config`, null for plain Envoy. `service`, `config`: further ones of one of them. `smg`: the
 * flags of an SMG, which clients ask without an Envoy. `key`: where the client puts the key.
 */
export const VARIANTS = [
  { name: 'plain-1k', title: 'plain Envoy, 1 KB', flags: null, key: 'none', bodyBytes: KIB },
  { name: 'header-1k', title: 'header key, 1 KB', flags: HEADER, key: 'header', bodyBytes: KIB },
  {
    name: 'header-1k-grpc-js',
    title: 'header key, 1 KB, `--transport grpc-js`',
    flags: [...HEADER, ...GRPC_JS],
    key: 'header',
    bodyBytes: KIB,
  },
  {
    name: 'header-1k-unix',
    title: 'header key, 1 KB, service on a Unix socket',
    flags: HEADER,
    service: ['--grpc-socket', join(tmpdir(), `smg-envoy-bench-${process.pid}.sock`)],
    key: 'header',
    bodyBytes: KIB,
  },
  {
    name: 'header-1k-authz',
    title: 'header key, 1 KB, ext_authz',
    flags: HEADER,
    config: AUTHZ,
    key: 'header',
    bodyBytes: KIB,
  },
  { name: 'rid-1k', title: 'body `rid`, 1 KB', flags: OVERRIDE, key: 'rid', bodyBytes: KIB },
  {
    name: 'rid-1k-grpc-js',
    title: 'body `rid`, 1 KB, `--transport grpc-js`',
    flags: [...OVERRIDE, ...GRPC_JS],
    key: 'rid',
    bodyBytes: KIB,
  },
  { name: 'smg-1k', title: 'SMG, body `rid`, 1 KB', smg: OVERRIDE, key: 'rid', bodyBytes: KIB },
  { name: 'plain-220k', title: 'plain Envoy, 220 KB', flags: null, key: 'none', bodyBytes: 220 * KIB },
  { name: 'header-220k', title: 'header key, 220 KB', flags: HEADER, key: 'header', bodyBytes: 220 * KIB },
  { name: 'rid-220k', title: 'body `rid`, 220 KB', flags: OVERRIDE, key: 'rid', bodyBytes: 220 * KIB },
  {
    name: 'rid-last-220k',
    title: 'body `rid` as last member, 220 KB',
    flags: OVERRIDE,
    key: 'rid-last',
    bodyBytes: 220 * KIB,
  },
  {
    name: 'rid-last-220k-grpc-js',
    title: 'body `rid` as last member, 220 KB, `--transport grpc-js`',
    flags: [...OVERRIDE, ...GRPC_JS],
    key: 'rid-last',
    bodyBytes: 220 * KIB,
  },
  {
    name: 'smg-220k',
    title: 'SMG, body `rid` as last member, 220 KB',
    smg: OVERRIDE,
    key: 'rid-last',
    bodyBytes: 220 * KIB,
  },
  { name: 'plain-1m', title: 'plain Envoy, 1 MB', flags: null, key: 'none', bodyBytes: MIB },
  { name: 'header-1m', title: 'header key, 1 MB', flags: HEADER, key: 'header', bodyBytes: MIB },
  {
    name: 'rid-last-1m',
    title: 'body `rid` as last member, 1 MB',
    flags: OVERRIDE,
    key: 'rid-last',
    bodyBytes: MIB,
  },
  { name: 'smg-1m', title: 'SMG, body `rid` as last member, 1 MB', smg: OVERRIDE, key: 'rid-last', bodyBytes: MIB },
];

export const isPlain = ({ flags }) => flags === null;
export const baselineOf = ({ bodyBytes }) => VARIANTS.find((each) => isPlain(each) && each.bodyBytes === bodyBytes);
/** The SMG that gets the same requests, if any does. */
export const peerOf = ({ bodyBytes, key, smg }) =>
  smg === undefined
    ? VARIANTS.find((each) => each.smg !== undefined && each.bodyBytes === bodyBytes && each.key === key)
    : undefined;
export const isLarge = ({ bodyBytes }) => bodyBytes > 10 * KIB;
export const isHuge = ({ bodyBytes }) => bodyBytes >= MIB;
