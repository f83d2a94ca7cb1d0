import { describe, expect, it } from 'vitest';
import { load, problemsOf } from '../../test/support/try-load.ts';

describe('policies 7 --model-alias', () => {
  it('takes several names of one model', () => {
    expect(load({ flags: '--model-alias small=m big=m other=x=y' }).settings.modelAlias).toEqual([
      'small=m',
      'big=m',
      'other=x=y',
    ]);
  });

  it.each([
    ['--model-alias a=b a=c', '--model-alias a=b a=c: the alias a stands twice'],
    ['--model-alias a=b b=c', '--model-alias a=b b=c: the alias a stands for b, which is an alias itself'],
    ['--model-alias a=b b=a', '--model-alias a=b b=a: the alias a stands for b, which is an alias itself'],
    ['--model-alias a=a', '--model-alias a=a: expected alias=canonical, two different names'],
  ])('%s is refused', (flags, problem) => {
    expect(problemsOf({ flags }).map((text) => text.replaceAll('"', ''))).toEqual([problem]);
  });
});
