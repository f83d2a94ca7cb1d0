import { describe, expect, it } from 'vitest';
import { CandidateLists } from './candidate-lists.ts';

describe('CandidateLists', () => {
  it('shares equal lists, and tells order apart', () => {
    const lists = new CandidateLists();

    expect(lists.acquire(['a', 'b'])).toBe(lists.acquire(['a', 'b']));
    expect(lists.acquire(['b', 'a'])).not.toBe(lists.acquire(['a', 'b']));
    expect(lists.size).toBe(2);
  });

  it('forgets a list with its last pin', () => {
    const lists = new CandidateLists();
    const list = lists.acquire(['a']);
    lists.acquire(['a']);

    lists.release(list);
    expect(lists.size).toBe(1);
    lists.release(list);
    expect(lists.size).toBe(0);
  });
});
