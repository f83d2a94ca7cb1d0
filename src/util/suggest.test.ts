import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { didYouMean, suggest } from './suggest.ts';

describe('suggest', () => {
  const flags = ['--policy', '--worker-urls', '--max-pins', '--max-idle-secs'];

  it.each([
    ['--polcy', '--policy'],
    ['--worker-url', '--worker-urls'],
    ['--workers-urls', '--worker-urls'],
    ['--max-pin', '--max-pins'],
    ['--something-else', undefined],
    ['', undefined],
  ])('%s → %s', (word, expected) => {
    expect(suggest(word, flags)).toBe(expected);
  });

  it('says nothing when nothing is near', () => {
    expect(didYouMean('zzz', flags)).toBe('');
    expect(didYouMean('--polic', flags)).toBe(' (did you mean --policy?)');
  });

  it('finds every word of three letters or more that is written right', () => {
    fc.assert(fc.property(fc.string({ minLength: 3 }), (word) => suggest(word, ['other words', word]) === word));
  });
});
