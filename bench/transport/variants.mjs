/**
 * What one call is. `ask`: the protocol. `key`: where the key is; a `rid` has the service ask for the body, `last` of which it
 * is. `close`: how the client ends a stream that has its answer, as Envoy does: `graceful` half-closes and waits for the
 * trailers, `reset` sends RST_STREAM alone, which is Envoy's default, `both` one after the other. `log`: an access-log entry for
 * each pick on a stream beside, at once or several in a message. `health` asks for nothing that takes time: what remains is the
 * transport.
 */
const KIB = 1024;
const EXT_PROC = { ask: 'ext_proc', key: 'header', close: 'graceful' };

export const VARIANTS = [
  { name: 'header', title: 'key in a header', ...EXT_PROC },
  { name: 'header-reset', title: 'key in a header, reset at the end', ...EXT_PROC, close: 'reset' },
  { name: 'header-both', title: 'key in a header, half-close and reset', ...EXT_PROC, close: 'both' },
  { name: 'header-entries', title: 'key in a header, an access-log entry each', ...EXT_PROC, log: 'entries' },
  { name: 'header-batches', title: 'key in a header, entries every 10 ms', ...EXT_PROC, log: 'batches' },
  { name: 'authz', title: 'key in a header, ext_authz', ask: 'ext_authz', key: 'header', close: 'graceful' },
  { name: 'rid-1k', title: '`rid` in 1 KB', ...EXT_PROC, key: 'rid', bodyBytes: KIB },
  { name: 'rid-32k', title: '`rid` last in 32 KB', ...EXT_PROC, key: 'rid', bodyBytes: 32 * KIB, last: true },
  { name: 'rid-220k', title: '`rid` last in 220 KB', ...EXT_PROC, key: 'rid', bodyBytes: 220 * KIB, last: true },
  { name: 'health', title: 'health check, the transport alone', ask: 'health', key: 'none', close: 'graceful' },
];

/** The implementations; a figure of one is held against the last one. */
export const TRANSPORTS = ['http2', 'grpc-js'];

/** Whether each call makes a pick. */
export const isPlaced = ({ ask }) => ask !== 'health';

export const isLarge = ({ bodyBytes = 0 }) => bodyBytes > 10 * KIB;
