import { type ConfigNode, type Extension, extensionOf } from '../config-node.ts';
import { type Route, routesOf } from './routes.ts';

/** An HTTP connection manager with what surrounds it. */
export interface HttpChain {
  /** Its configuration; does not exist where only a filter is written. */
  readonly manager: ConfigNode;
  readonly listener: ConfigNode;
  readonly filters: readonly HttpFilter[];
  readonly routes: readonly Route[];
  /** Loggers that write to a gRPC access log service. */
  readonly loggers: readonly Logger[];
}

export interface HttpFilter extends Extension {
  readonly kind: 'ext_proc' | 'ext_authz' | 'router' | 'other';
  /** Wrapped into a matcher that decides whether it runs. */
  readonly wrapped: boolean;
  /** Off, unless a route turns it on. */
  readonly off: boolean;
}

export interface Logger {
  readonly node: ConfigNode;
  readonly filter: ConfigNode;
  /** `common_config` */
  readonly config: ConfigNode;
}

export function httpChainOf(manager: ConfigNode, listener: ConfigNode, routeConfigs: readonly ConfigNode[]): HttpChain {
  return {
    manager,
    listener,
    filters: manager.get('http_filters').items().map(httpFilterOf),
    routes: routeConfigs.flatMap(routesOf),
    loggers: manager.get('access_log').items().flatMap(loggerOf),
  };
}

export function httpFilterOf(node: ConfigNode): HttpFilter {
  const outer = extensionOf(node);
  const wrapped = outer.type.endsWith('.ExtensionWithMatcher');
  const inner = wrapped ? extensionOf(outer.config.get('extension_config')) : outer;
  return {
    ...inner,
    node,
    name: outer.name,
    kind: kindOf(inner.type),
    wrapped,
    off: node.get('disabled').bool(false) === true,
  };
}

function kindOf(type: string): HttpFilter['kind'] {
  if (type.endsWith('.http.ext_proc.v3.ExternalProcessor')) return 'ext_proc';
  if (type.endsWith('.http.ext_authz.v3.ExtAuthz')) return 'ext_authz';
  return type.endsWith('.http.router.v3.Router') ? 'router' : 'other';
}

function loggerOf(node: ConfigNode): readonly Logger[] {
  const { type, config } = extensionOf(node);
  if (!type.endsWith('.HttpGrpcAccessLogConfig')) return [];
  return [{ node, filter: node.get('filter'), config: config.get('common_config') }];
}
