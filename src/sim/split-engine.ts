/** The part of an engine that works in two legs. It keeps no cache, but tells whose it was given. */
import type { Endpoint } from './endpoints.ts';

/** Who `/v1/models` says the engine is. */
export const ENGINE_NAMES: readonly string[] = ['sim', 'vllm', 'sglang'];

type Json = Readonly<Record<string, unknown>>;

/** Who did the prefill of the request: the name of a vLLM engine, or where SGLang's two workers meet. Null when nobody did. */
export function prefillOf(json: Json): string | null {
  const { remote_engine_id: engine, remote_bootstrap_addr: place, do_remote_prefill: told } = transfer(json);
  if (told === true) return textOf(engine) ?? textOf(place);
  const host = textOf(json['bootstrap_host']);
  return host === null ? null : `${host}:${JSON.stringify(json['bootstrap_port'])}`;
}

/** A prefill of vLLM answers with where its cache is. */
export function withCache(endpoint: Endpoint, json: Json, worker: string): Endpoint {
  if (transfer(json)['do_remote_decode'] !== true) return endpoint;
  const cache = {
    do_remote_prefill: true,
    do_remote_decode: false,
    remote_engine_id: worker,
    remote_block_ids: [1, 2, 3],
  };
  return { ...endpoint, reply: (ask) => ({ ...endpoint.reply(ask), kv_transfer_params: cache }) };
}

function transfer(json: Json): Json {
  const params = json['kv_transfer_params'];
  return typeof params === 'object' && params !== null ? { ...params } : {};
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
