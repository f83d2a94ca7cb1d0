/** Everything a test needs to run the product beside real services. */
export { Child } from './child.ts';
export { type EnvoyHandle, type EnvoyOptions, noEnvoy, startEnvoy, validateWithEnvoy } from './envoy.ts';
export {
  type Answer,
  ask,
  type Exchange,
  type Http2Client,
  http2Client,
  type Outgoing,
  rawHttp,
  start,
} from './http.ts';
export { KeyLoad, type KeyLoadOptions } from './key-load.ts';
export { accepts, freePort } from './ports.ts';
export { noRedis, noRedisServer, type RedisHandle, startRedis } from './redis.ts';
export { type RedisClusterHandle, startCluster } from './redis-cluster.ts';
export { type SentinelHandle, startSentinel } from './redis-sentinel.ts';
export { startTlsRedis, type TlsRedisHandle } from './redis-tls.ts';
export { type Replicas, type ReplicasOptions, startReplicas } from './replicas.ts';
export { converse, type KeyPlace, Replies, type Reply } from './replies.ts';
export { Metrics, ServiceProcess } from './service-process.ts';
export { type SlowProxy, slowProxy } from './slow-proxy.ts';
export { type SprayOptions, spray } from './spray.ts';
export { envoyConfig, FAST_HEALTH, type Stack, type StackOptions, startStack } from './stack.ts';
export { until } from './until.ts';
