import type { ConfigNode } from '../config-node.ts';
import { modeOf } from '../subject/asker.ts';
import { isFullDuplex } from '../subject/processing-mode.ts';
import type { Subject } from '../subject/subject.ts';
import type { Trap } from '../trap.ts';
import { askingChains, authorizers, processors } from './askers.ts';

/** Envoy's default for an answer of the service, and the time that a busy one can need. */
const DEFAULT_MESSAGE_SECS = 0.2;
const BUSY_SECS = 1;
/** A long prefill sends nothing for minutes (decisions 11). */
const IDLE_SECS = 900;
const DEFAULT_IDLE_SECS = 300;

/** How long Envoy waits. */
export const TIME_TRAPS: readonly Trap[] = [
  {
    id: 'T29',
    level: 'warning',
    title: 'message_timeout is short',
    consequence: 'Under load requests go on without a pick, or get 504.',
    into: 'typed_config of the ext_proc filter',
    cure: 'message_timeout: 5s',
    // envoy 10.5
    remark: 'Not in full duplex, where it does not run.',
    *find(subject) {
      for (const { config, modes } of processors(subject)) {
        const timeout = config.get('message_timeout');
        const secs = timeout.seconds(DEFAULT_MESSAGE_SECS);
        if (modes.every(isFullDuplex) || secs === undefined || secs >= BUSY_SECS) continue;
        yield { at: timeout, found: `${secs}s` };
      }
    },
  },
  {
    id: 'T30',
    level: 'note',
    title: 'grpc_service.timeout',
    consequence: 'It has no effect on ext_proc.',
    into: 'grpc_service of the ext_proc filter',
    cure: '# delete timeout; message_timeout of the filter is the one that counts',
    // envoy 10.5
    *find(subject) {
      for (const { service } of processors(subject)) {
        const timeout = service.node.get('timeout');
        if (timeout.exists) yield { at: timeout };
      }
    },
  },
  {
    id: 'T36',
    level: 'error',
    title: 'the route to the workers has no timeout',
    consequence: "Envoy's default cuts generations after 15 s.",
    into: 'route',
    cure: 'timeout: 0s',
    // envoy 2.2
    *find({ askers }) {
      for (const { action } of askers.flatMap(({ routes }) => routes)) {
        if (action.exists && action.get('timeout').absent) yield { at: action };
      }
    },
  },
  {
    id: 'T37',
    level: 'warning',
    levelBy: 'a note where every route has an idle_timeout of its own',
    title: 'an idle timeout below 15 minutes, or a request timeout',
    consequence: 'A long prefill is cut with 504, a slow upload with 408.',
    into: 'the HTTP connection manager, and the route',
    cure: `stream_idle_timeout: 900s   # of the HTTP connection manager
idle_timeout: 900s          # of the route`,
    // envoy 4.3
    *find(subject) {
      for (const chain of askingChains(subject)) {
        const { manager } = chain;
        const request = manager.get('request_timeout');
        if ((request.seconds(0) ?? 0) > 0)
          yield { at: request, found: `request_timeout ${request.seconds()}s`, cure: '# delete request_timeout' };
        const routes = subject.askers.filter((asker) => asker.chain === chain).flatMap((asker) => asker.routes);
        const actions = routes.map(({ action }) => action).filter(({ exists }) => exists);
        const open = actions.some((action) => action.get('idle_timeout').absent);
        const stream = manager.get('stream_idle_timeout');
        const secs = stream.seconds(DEFAULT_IDLE_SECS);
        if (isShort(secs) && (stream.exists || open || actions.length === 0)) {
          yield {
            at: stream,
            found: `stream_idle_timeout ${secs}s`,
            level: open || actions.length === 0 ? 'warning' : 'note',
          };
        }
        for (const action of new Set(actions)) {
          const own = action.get('idle_timeout');
          if (isShort(own.seconds())) yield { at: own, found: `idle_timeout ${own.seconds()}s` };
        }
      }
    },
  },
  {
    id: 'T70',
    level: 'warning',
    title: 'the timeout of ext_authz is short',
    consequence: 'Under load requests go on without a pick, or get 403.',
    into: 'grpc_service of the ext_authz filter',
    cure: 'timeout: 5s',
    // envoy 11.2
    *find(subject) {
      for (const { service } of authorizers(subject)) {
        const timeout = service.node.get('timeout');
        const secs = timeout.seconds(DEFAULT_MESSAGE_SECS);
        if (secs !== undefined && secs > 0 && secs < BUSY_SECS) yield { at: timeout, found: `${secs}s` };
      }
    },
  },
  {
    id: 'T79',
    level: 'error',
    title: 'the service gets no time for a prefill',
    consequence: 'The request goes to a worker that the service did not choose, without what the prefill made.',
    into: 'typed_config of the ext_proc filter',
    cure: 'max_message_timeout: 60s',
    // envoy 10.5
    remark: 'Only with `--pd-dispatch service`.',
    *find(subject, { pdDispatch, prefillSecs }) {
      if (pdDispatch !== 'service') return;
      for (const { config, routes, filter } of processors(subject)) {
        if (routes.length > 0 && routes.every((route) => isFullDuplex(modeOf(route, filter)))) continue;
        const longest = config.get('max_message_timeout');
        const secs = longest.seconds(0);
        // What it cannot ask for it may have anyway.
        const always = config.get('message_timeout').seconds(DEFAULT_MESSAGE_SECS);
        if (secs === undefined || always === undefined || Math.max(secs, always) >= prefillSecs) continue;
        yield { at: longest, found: `max_message_timeout ${secs}s` };
      }
    },
  },
  {
    id: 'T82',
    level: 'warning',
    title: 'a whole request may not last 15 minutes',
    consequence: 'A long generation is cut in the middle.',
    into: 'the route, or the HTTP connection manager',
    cure: 'timeout: 0s   # of the route; or give the service --request-timeout-secs',
    remark: 'Not where `--request-timeout-secs` asks for it.',
    *find(subject, { requestTimeoutSecs }) {
      const meant = Math.min(IDLE_SECS, requestTimeoutSecs ?? IDLE_SECS);
      for (const { name, at } of wholeRequestBounds(subject)) {
        const secs = at.seconds() ?? 0;
        if (secs > 0 && secs < meant) yield { at, found: `${name} ${secs}s` };
      }
    },
  },
];

interface Bound {
  readonly name: string;
  readonly at: ConfigNode;
}

/** What ends a request after a time, whether or not something still flows. */
function* wholeRequestBounds(subject: Subject): Generator<Bound> {
  for (const { manager } of askingChains(subject)) {
    yield {
      name: 'max_stream_duration',
      at: manager.get('common_http_protocol_options', 'max_stream_duration'),
    };
  }
  for (const action of new Set(subject.askers.flatMap(({ routes }) => routes.map((route) => route.action)))) {
    yield { name: 'timeout', at: action.get('timeout') };
    yield { name: 'max_stream_duration', at: action.get('max_stream_duration', 'max_stream_duration') };
  }
}

/** Whether an idle timeout cuts a long prefill; 0 switches it off. */
export function isShort(secs: number | undefined): boolean {
  return secs !== undefined && secs > 0 && secs < IDLE_SECS;
}
