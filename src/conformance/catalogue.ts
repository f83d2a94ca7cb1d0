import type { Check } from './check.ts';
import { decidedAtHeaders } from './checks/e07-decided-at-headers.ts';
import { unknownRequests } from './checks/e08-unknown-requests.ts';
import { anyPhaseFirst } from './checks/e09-any-phase-first.ts';
import { earlyResponse } from './checks/e10-early-response.ts';
import { destinationSyntax } from './checks/e11-destination-syntax.ts';
import { noForeignEndpoint } from './checks/e12-no-foreign-endpoint.ts';
import { largeMessage } from './checks/e13-large-message.ts';
import { manyStreams } from './checks/e14-many-streams.ts';
import { resets } from './checks/e15-resets.ts';
import { eventStream } from './checks/e16-event-stream.ts';
import { inTime } from './checks/e17-in-time.ts';
import { testSelection } from './checks/g01-test-selection.ts';
import { headerAndMetadata } from './checks/p01-header-and-metadata.ts';
import { subsetSpellings } from './checks/p02-subset-spellings.ts';
import { subsetWithoutBody } from './checks/p03-subset-without-body.ts';
import { refusals } from './checks/p04-refusals.ts';
import { fullDuplexBodies } from './checks/p05-full-duplex-bodies.ts';
import { samePickInEveryMode } from './checks/p06-same-pick-in-every-mode.ts';
import { trailers } from './checks/p07-trailers.ts';
import { clientHeaders } from './checks/p08-client-headers.ts';
import { servedFeedback } from './checks/p09-served-feedback.ts';
import { healthNames } from './checks/p10-health-names.ts';
import { responsePhase } from './checks/p11-response-phase.ts';
import { fallbackList } from './checks/p12-fallback-list.ts';
import { WIRE_RULES } from './checks/wire-rules.ts';

/** All checks, in the order in which they run: the light ones first. */
export const CHECKS: readonly Check[] = [
  headerAndMetadata,
  subsetSpellings,
  subsetWithoutBody,
  refusals,
  fullDuplexBodies,
  samePickInEveryMode,
  trailers,
  clientHeaders,
  servedFeedback,
  healthNames,
  responsePhase,
  fallbackList,
  ...WIRE_RULES,
  decidedAtHeaders,
  unknownRequests,
  anyPhaseFirst,
  earlyResponse,
  destinationSyntax,
  noForeignEndpoint,
  largeMessage,
  manyStreams,
  resets,
  eventStream,
  inTime,
  testSelection,
];
