import { expect, it } from 'vitest';
import { endpointLabel } from './endpoint-label.ts';

it.each([
  ['/v1/chat/completions', 'chat'],
  ['/v1/chat/completions?x=/generate', 'chat'],
  ['/v1/chat/completions/', 'other'],
  ['/v1/rerank', 'rerank'],
  ['/rerank', 'rerank'],
  ['/v1/audio/transcriptions', 'audio_transcriptions'],
  ['/v1/models', 'other'],
  ['?', 'other'],
  ['', 'other'],
])('endpoint of %s is %s', (path, label) => {
  expect(endpointLabel(path)).toBe(label);
});
