/** Part of a configuration: plain data, with comments in members whose name starts with `#` (see commented-yaml.ts). */
export type Config = { readonly [name: string]: unknown };

/** An `Any` of Envoy's configuration; `type` is the message's full name. */
export function typed(type: string, fields: Config = {}): Config {
  return { '@type': `type.googleapis.com/${type}`, ...fields };
}

/** A named extension with its configuration. */
export function extension(name: string, type: string, fields: Config = {}): Config {
  return { name, typed_config: typed(type, fields) };
}

/** `typed_extension_protocol_options` of a cluster that is called by HTTP. */
export function httpProtocolOptions(fields: Config): Config {
  const name = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
  return { [name]: typed(name, fields) };
}
