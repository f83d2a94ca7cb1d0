const ENVOY_LISTENS = 'clients connect to Envoy; see smg-envoy envoy-config --listen';
const ENVOY_LIMITS = 'limits before routing are Envoy’s: circuit breakers, admission control or rate limit filters';
const NO_ENGINE = 'requests are routed, not parsed, tokenised or translated here';
const NO_STORE = 'conversations and responses are not stored here';
const NO_MEDIA = 'bodies reach the worker untouched, media included';
const NO_ENCODE = 'encode workers are not supported';
const NO_MESH = 'replicas share pins and loads through Redis: --pin-store redis://…';
const NO_RL = 'control of training workers is not part of routing';
const NO_QUEUE = 'there is no job queue: changes of the fleet apply at once';

/** Flags of SMG v1.11 that are not taken over, and what to do instead (decisions 42). */
export const KNOWN_FLAGS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    host: ENVOY_LISTENS,
    port: ENVOY_LISTENS,
    'cors-allowed-origins': 'use Envoy’s cors filter',
    'upstream-pool-idle-timeout-secs': 'the idle timeout is set in Envoy’s cluster',
    'api-key':
      'Envoy passes the client’s authorization header on; give a worker’s own key as api_key in the config file',

    'max-concurrent-requests': ENVOY_LIMITS,
    'queue-size': ENVOY_LIMITS,
    'queue-timeout-secs': ENVOY_LIMITS,
    'rate-limit-tokens-per-second': ENVOY_LIMITS,
    'stream-body-stall-timeout-secs': 'Envoy’s request_timeout and stream idle timeout bound a stalled body',
    'stream-request-bodies-over': 'SMG removed it; bodies are only read where a decision needs them',
    'pd-admission-wait-secs': 'waiting for a decode slot is not supported',
    'job-queue-capacity': NO_QUEUE,
    'job-queue-concurrency': NO_QUEUE,

    'health-check-port': 'probes go to the worker’s own port; set health in the config file for one worker',
    'worker-startup-timeout-secs': 'a worker is probed until it answers or is removed',
    'worker-startup-delay': 'a worker is probed at once and again until it answers',
    'engine-metrics': 'Prometheus can scrape the workers itself',
    'enable-igw': 'several models need no switch',
    'dp-minimum-tokens-scheduler': 'use --policy least_load',
    'bucket-adjust-interval-secs': 'the interval of the bucket policy is fixed',
    'kv-indexer-ttl-secs': 'KV events of engines are not read',
    'kv-indexer-max-entries': 'KV events of engines are not read',
    'kv-connector-annotation': 'the annotation is smg.ai/kv-connector',
    'kv-engine-id-annotation': 'the annotation is smg.ai/kv-engine-id',
    'tenant-header-name': 'use --tenant-header',
    'trust-tenant-header': 'use --tenant-header, which is always trusted',

    'epd-disaggregation': NO_ENCODE,
    encode: NO_ENCODE,
    'encode-policy': NO_ENCODE,
    'encode-selector': NO_ENCODE,

    'enable-mesh': NO_MESH,
    'mesh-server-name': NO_MESH,
    'mesh-host': NO_MESH,
    'mesh-advertise-host': NO_MESH,
    'mesh-port': NO_MESH,
    'mesh-peer-urls': NO_MESH,
    'router-selector': NO_MESH,

    'model-path': NO_ENGINE,
    model: NO_ENGINE,
    'tokenizer-path': NO_ENGINE,
    'chat-template': NO_ENGINE,
    'disable-tokenizer-autoload': NO_ENGINE,
    'tokenizer-cache-enable-l0': NO_ENGINE,
    'tokenizer-cache-l0-max-entries': NO_ENGINE,
    'tokenizer-cache-enable-l1': NO_ENGINE,
    'tokenizer-cache-l1-max-memory': NO_ENGINE,
    'reasoning-parser': NO_ENGINE,
    'tool-call-parser': NO_ENGINE,
    'mcp-config-path': NO_ENGINE,
    backend: NO_ENGINE,
    'zmq-engine-count': NO_ENGINE,
    'enable-wasm': 'use Envoy’s wasm filter',

    'multimodal-tensor-transport': NO_MEDIA,
    'multimodal-shm-min-bytes': NO_MEDIA,
    'multimodal-max-inflight-bytes': NO_MEDIA,
    'mm-per-request-image-limit': NO_MEDIA,
    'mm-processing': NO_MEDIA,
    'mm-pixel-cache-mb': NO_MEDIA,
    'mm-pixel-rdma': NO_MEDIA,
    'rdma-listen-ip': NO_MEDIA,
    'rdma-slot-ttl-s': NO_MEDIA,
    'log-mm-timing': NO_MEDIA,

    'history-backend': NO_STORE,
    'storage-context-headers': NO_STORE,
    'storage-hook-wasm-path': NO_STORE,
    'schema-config': NO_STORE,
    'oracle-wallet-path': NO_STORE,
    'oracle-tns-alias': NO_STORE,
    'oracle-connect-descriptor': NO_STORE,
    'oracle-username': NO_STORE,
    'oracle-password': NO_STORE,
    'oracle-external-auth': NO_STORE,
    'oracle-pool-min': NO_STORE,
    'oracle-pool-max': NO_STORE,
    'oracle-pool-timeout-secs': NO_STORE,
    'postgres-db-url': NO_STORE,
    'postgres-pool-max': NO_STORE,
    'redis-url': 'Redis keeps pins, no conversations: --pin-store redis://…',
    'redis-pool-max': 'each replica keeps one connection for commands and one for messages',
    'redis-retention-days': 'pins live for --max-idle-secs',

    'enable-rl': NO_RL,
    'rl-control-timeout-secs': NO_RL,
    'rl-fanout-concurrency': NO_RL,

    'log-dir': 'logs go to stderr',
    'prometheus-duration-buckets': 'buckets are fixed',
    'control-plane-audit-enabled': 'changes through the admin API are always logged',
  }).map(([name, reason]) => [`--${name}`, reason]),
);
