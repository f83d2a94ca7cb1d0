import type { Target } from '../lib/target.ts';
import { checkRequestTarget } from './check-request.ts';
import { framesTarget } from './frames.ts';
import { hpackTarget } from './hpack.ts';
import { jsonTarget } from './json.ts';
import { logEntryTarget } from './log-entry.ts';
import { peersTarget } from './peers.ts';
import { processingRequestTarget } from './processing-request.ts';
import { textTarget } from './text.ts';

/** Everything that can be fuzzed, by name. */
export const TARGETS: Readonly<Record<string, () => Target>> = {
  'check-request': checkRequestTarget,
  frames: framesTarget,
  hpack: hpackTarget,
  json: jsonTarget,
  'log-entry': logEntryTarget,
  peers: peersTarget,
  'processing-request': processingRequestTarget,
  text: textTarget,
};
