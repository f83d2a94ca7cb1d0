import type { Asker } from '../subject/asker.ts';
import { modeOf } from '../subject/asker.ts';
import {
  isBuffered,
  isFullDuplex,
  type ProcessingMode,
  processingModeOf,
  UNSET,
  writtenMode,
} from '../subject/processing-mode.ts';
import type { Subject } from '../subject/subject.ts';
import type { Flaw, Trap } from '../trap.ts';
import { processors } from './askers.ts';

const FILTER = 'typed_config of the ext_proc filter';
const MODE = 'processing_mode';

const ENTRY = 'the entry of allowed_override_modes';
/** Envoy's own choice, since the service waited for the body. */
const UNPICKED = 'Envoy ignores the request for a body and tells nobody: what needed one goes to any worker.';

/** What the service asks for, every field written out (envoy 4.2). */
const OVERRIDE = `allow_mode_override: true
allowed_override_modes:
  - request_header_mode: SEND
    response_header_mode: SKIP
    request_body_mode: BUFFERED_PARTIAL
    response_body_mode: NONE
    request_trailer_mode: SKIP
    response_trailer_mode: SKIP`;

/** Which bodies the service gets, and how it may ask for them. */
export const MODE_TRAPS: readonly Trap[] = [
  {
    id: 'T3',
    level: 'error',
    title: 'the service cannot ask for bodies',
    consequence: UNPICKED,
    into: FILTER,
    cure: OVERRIDE,
    // envoy 4.2
    remark:
      'Only where these settings need bodies. A route that matches on a header is taken to be one for header keys.',
    *find(subject, { bodyReason }) {
      if (bodyReason === null) return;
      for (const asker of processors(subject)) {
        if (asker.config.get('allow_mode_override').bool(false) !== false) continue;
        const modes = asker.routes.filter(({ node, action }) => action.exists && !matchesHeaders(node));
        const bare = asker.routes.length === 0 ? asker.modes : modes.map((route) => modeOf(route, asker.filter));
        if (!bare.some(({ requestBody, requestHeaders }) => requestBody === 'NONE' && requestHeaders === 'SEND'))
          continue;
        yield { at: placeOf(asker, 'allow_mode_override'), found: `bodies are needed because ${bodyReason}` };
      }
    },
  },
  {
    id: 'T4',
    level: 'error',
    title: 'an entry of allowed_override_modes leaves a header or trailer mode unset',
    consequence: 'Such an entry never matches, so that Envoy ignores the request for a body.',
    into: ENTRY,
    cure: `response_header_mode: SKIP
request_trailer_mode: SKIP
response_trailer_mode: SKIP`,
    // envoy 4.2
    remark:
      'Only where processing_mode sets that mode: Envoy compares what is written. request_header_mode may be left out, since Envoy does not compare it (tried with Envoy 1.40).',
    *find(subject) {
      for (const asker of overridingAskers(subject)) {
        for (const entry of allowedModes(asker)) {
          const unset = comparedModes(asker, entry).filter(({ asked, base }) => asked === UNSET && isWritten(base));
          if (unset.length > 0) yield { at: entry, found: unset.map(({ name }) => name).join(', ') };
        }
      }
    },
  },
  {
    id: 'T5',
    level: 'error',
    title: 'no entry of allowed_override_modes lets the service ask for a body',
    consequence: UNPICKED,
    into: FILTER,
    cure: OVERRIDE,
    // envoy 4.2
    remark:
      'The service changes the body mode alone: in all else an entry must say what processing_mode says, and what that leaves unset equals nothing that is written (tried with Envoy 1.40). Fields that T4 reports count as if they were right.',
    *find(subject, { bodyReason }) {
      if (bodyReason === null) return;
      for (const asker of overridingAskers(subject)) {
        const entries = allowedModes(asker);
        if (entries.length === 0) continue;
        const near = entries.filter((entry) => asksForBody(processingModeOf(entry)));
        const [closest] = near;
        if (closest === undefined) yield { at: asker.config.get('allowed_override_modes') };
        else if (isAsked(asker) && near.every((entry) => differences(asker, entry).length > 0)) {
          yield differing(closest, differences(asker, closest));
        }
      }
    },
  },
  {
    id: 'T6',
    level: 'warning',
    title: 'BUFFERED may be asked for',
    consequence: 'A body over the limit that comes early then hangs its request until an idle timeout ends it.',
    into: FILTER,
    cure: OVERRIDE,
    // envoy 4.3
    *find(subject) {
      for (const asker of overridingAskers(subject)) {
        const list = asker.config.get('allowed_override_modes');
        if (list.absent || (list.exists && list.items().length === 0)) {
          yield { at: placeOf(asker, 'allow_mode_override'), found: 'allowed_override_modes is empty' };
        }
        for (const entry of list.items()) {
          if (processingModeOf(entry).requestBody === 'BUFFERED') yield { at: entry.get('request_body_mode') };
        }
      }
    },
  },
  {
    id: 'T7',
    level: 'error',
    title: 'allow_mode_override does not go with this processing mode',
    consequence: 'Envoy ignores every override.',
    into: FILTER,
    cure: '# delete allow_mode_override, or the other of the two',
    // envoy 4.2
    *find(subject) {
      for (const asker of overridingAskers(subject)) {
        const { config } = asker;
        const early = config.get('send_body_without_waiting_for_header_response');
        const duplex = isFullDuplex(processingModeOf(config.get(MODE)));
        if (early.bool() !== true && !duplex) continue;
        const found = duplex ? 'FULL_DUPLEX_STREAMED' : 'send_body_without_waiting_for_header_response';
        yield { at: config.get('allow_mode_override'), found };
      }
    },
  },
  {
    id: 'T8',
    level: 'error',
    title: 'request_body_mode is STREAMED',
    consequence:
      'The request is on its way before the body was read: a pick by body comes too late, and retries can double bodies.',
    into: MODE,
    cure: 'request_body_mode: NONE   # the service asks for bodies; or BUFFERED',
    // envoy 4.1
    find: (subject) => modesWith(subject, 'request_body_mode', ({ requestBody }) => requestBody === 'STREAMED'),
  },
  {
    id: 'T9',
    level: 'error',
    refused: true,
    title: 'FULL_DUPLEX_STREAMED without trailers',
    consequence: 'Envoy refuses the file.',
    into: MODE,
    cure: `request_trailer_mode: SEND
response_trailer_mode: SEND`,
    // envoy 4.6
    *find(subject) {
      for (const { at, ...mode } of modesOf(subject)) {
        if (mode.requestBody === 'FULL_DUPLEX_STREAMED' && mode.requestTrailers === 'SKIP') {
          yield { at: at.get('request_body_mode'), cure: 'request_trailer_mode: SEND' };
        }
        if (mode.responseBody === 'FULL_DUPLEX_STREAMED' && mode.responseTrailers === 'SKIP') {
          yield { at: at.get('response_body_mode'), cure: 'response_trailer_mode: SEND' };
        }
      }
    },
  },
  {
    id: 'T11',
    level: 'warning',
    title: 'response headers go to the service',
    consequence: 'One more exchange for each request, before the first byte of its answer.',
    into: MODE,
    cure: 'response_header_mode: SKIP',
    // envoy 4.1
    remark: 'Not in full duplex, where the protocol of endpoint pickers wants them.',
    find: (subject) =>
      modesWith(subject, 'response_header_mode', (mode) => mode.responseHeaders === 'SEND' && !isFullDuplex(mode)),
  },
  {
    id: 'T12',
    level: 'error',
    title: 'response bodies go to the service',
    consequence: 'One exchange for each chunk of an answer.',
    into: MODE,
    cure: 'response_body_mode: NONE',
    // envoy 3.6
    find: (subject) =>
      modesWith(
        subject,
        'response_body_mode',
        ({ responseBody }) => responseBody !== undefined && !['NONE', 'FULL_DUPLEX_STREAMED'].includes(responseBody),
      ),
  },
  {
    id: 'T13',
    level: 'warning',
    title: 'bodies without their headers',
    consequence:
      'Changes of headers are dropped, requests without a body are not picked, and bodies go to workers without a length.',
    into: MODE,
    cure: 'request_header_mode: SEND',
    // envoy 2.3
    *find(subject) {
      for (const asker of processors(subject)) {
        if (asker.config.get('allow_content_length_header').bool(false) !== false) continue;
        for (const mode of asker.modes) {
          if (mode.requestHeaders === 'SKIP' && isBuffered(mode.requestBody)) {
            yield { at: mode.at.get('request_header_mode') };
          }
        }
      }
    },
  },
];

/** All but that of request headers, which Envoy does not compare. */
const OTHER_HEADER_MODES = ['response_header_mode', 'request_trailer_mode', 'response_trailer_mode'];

function modesOf(subject: Subject): readonly ProcessingMode[] {
  return processors(subject).flatMap(({ modes }) => modes);
}

function* modesWith(subject: Subject, field: string, has: (mode: ProcessingMode) => boolean): Generator<Flaw> {
  for (const mode of modesOf(subject)) if (has(mode)) yield { at: mode.at.get(field) };
}

function overridingAskers(subject: Subject): readonly Asker[] {
  return processors(subject).filter(({ config }) => config.get('allow_mode_override').bool(false) === true);
}

function allowedModes({ config }: Asker): ReturnType<Asker['config']['items']> {
  return config.get('allowed_override_modes').items();
}

function asksForBody({ requestBody, responseBody }: ProcessingMode): boolean {
  return requestBody === 'BUFFERED_PARTIAL' && responseBody === 'NONE';
}

/** The service asks where no body comes by itself. */
function isAsked({ config }: Asker): boolean {
  return processingModeOf(config.get(MODE)).requestBody === 'NONE';
}

/** A mode as an entry has it and as the filter's own mode has it; undefined is what a patch leaves open. */
interface ComparedMode {
  readonly name: string;
  readonly asked: string | undefined;
  readonly base: string | undefined;
}

function comparedModes({ config }: Asker, entry: Asker['config']): readonly ComparedMode[] {
  return OTHER_HEADER_MODES.map((name) => ({
    name,
    asked: writtenMode(entry.get(name)),
    base: writtenMode(config.get(MODE).get(name)),
  }));
}

function differences(asker: Asker, entry: Asker['config']): readonly ComparedMode[] {
  return comparedModes(asker, entry).filter(
    ({ asked, base }) => isWritten(asked) && base !== undefined && asked !== base,
  );
}

function differing(entry: Asker['config'], modes: readonly ComparedMode[]): Flaw {
  const found = modes.map(({ name, asked, base }) => `${name} is ${asked} there and ${base} in ${MODE}`).join(', ');
  const at = entry.get(modes[0]?.name ?? '');
  // What is unset is written out as the entry has it; what is set is what the operator wants.
  if (modes.every(({ base }) => base === UNSET)) return { at, found, into: MODE, cure: lines(modes, 'asked') };
  return modes.every(({ base }) => base !== UNSET)
    ? { at, found, into: ENTRY, cure: lines(modes, 'base') }
    : { at, found };
}

function lines(modes: readonly ComparedMode[], from: 'asked' | 'base'): string {
  return modes.map((mode) => `${mode.name}: ${mode[from]}`).join('\n');
}

function isWritten(mode: string | undefined): boolean {
  return mode !== undefined && mode !== UNSET;
}

function matchesHeaders(route: Asker['config']): boolean {
  return route.get('match', 'headers').items().length > 0;
}

/** The field, or the filter's type when the field is missing. */
function placeOf({ config }: Asker, field: string): Asker['config'] {
  const node = config.get(field);
  return node.exists ? node : config;
}
