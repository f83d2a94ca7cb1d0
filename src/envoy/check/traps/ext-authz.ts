import { AUTHZ_NAMESPACE, DESTINATION_KEY } from '../../names.ts';
import { perFilterConfig, type Route } from '../subject/routes.ts';
import type { Trap } from '../trap.ts';
import { authorizers, readsPick } from './askers.ts';

const FILTER = 'typed_config of the ext_authz filter';

/** What is different where the service is asked by ext_authz (envoy 11). */
export const EXT_AUTHZ_TRAPS: readonly Trap[] = [
  {
    id: 'T69',
    level: 'error',
    title: 'ext_authz does not send bodies as the service needs them',
    consequence: 'The key in a body is not seen, or a larger body gets 413 even when the filter fails open.',
    into: FILTER,
    cure: 'with_request_body: {max_request_bytes: 16777216, allow_partial_message: true, pack_as_bytes: true}',
    // envoy 11.1
    remark: 'with_request_body is asked for only where these settings need bodies.',
    *find(subject, { bodyReason, bodyLimitBytes }) {
      const cure = `with_request_body: {max_request_bytes: ${bodyLimitBytes}, allow_partial_message: true, pack_as_bytes: true}`;
      for (const { config, routes, filter } of authorizers(subject)) {
        const body = config.get('with_request_body');
        if (body.absent && bodyReason !== null) {
          yield { at: config, found: `bodies are needed because ${bodyReason}`, cure };
        }
        if (!body.exists) continue;
        if (body.get('pack_as_bytes').bool(false) === false)
          yield { at: body, found: 'pack_as_bytes is not true', cure };
        const most = body.get('max_request_bytes').number();
        const partial = body.get('allow_partial_message').bool(false) === true;
        if (most !== undefined && most < bodyLimitBytes && !partial) {
          yield { at: body, found: `bodies over ${most} bytes get 413`, cure };
        }
        // gRPC streams and upgrades are placed by their headers.
        for (const route of bodyReason === null ? [] : routes.filter(takesBodies)) {
          for (const level of route.levels) {
            const off = perFilterConfig(level, filter.name).get('check_settings', 'disable_request_body_buffering');
            if (off.bool() === true) {
              yield { at: off, found: 'a route switches them off', cure: '# delete disable_request_body_buffering' };
            }
          }
        }
      }
    },
  },
  {
    id: 'T71',
    level: 'error',
    title: 'override_host reads other metadata than that of the ext_authz filter',
    consequence: 'Envoy ignores the pick and chooses a worker itself.',
    into: 'typed_config of override_host',
    cure: `override_host_sources:
  - metadata: {key: ${AUTHZ_NAMESPACE}, path: [{key: ${DESTINATION_KEY}}]}`,
    // envoy 11.2
    *find(subject, settings) {
      for (const asker of authorizers(subject)) {
        for (const { overrideHost } of asker.workers) {
          const sources = overrideHost?.sources ?? [];
          const first = sources[0];
          if (first === undefined || sources.some((source) => readsPick(source, asker, settings))) continue;
          yield { at: first.node, found: first.metadata?.namespace ?? `header ${first.header}` };
        }
      }
    },
  },
];

function takesBodies({ node }: Route): boolean {
  const match = node.get('match');
  return !match.get('grpc').exists && match.get('headers').items().length === 0;
}
