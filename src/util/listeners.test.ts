import { describe, expect, it } from 'vitest';
import { Listeners } from './listeners.ts';

describe('listeners', () => {
  it('are told, in order, until they go', () => {
    const told: string[] = [];
    const listeners = new Listeners<[number]>();
    const undo = listeners.add((n) => told.push(`a${n}`));
    listeners.add((n) => told.push(`b${n}`));
    listeners.tell(1);
    undo();
    listeners.tell(2);
    listeners.clear();
    listeners.tell(3);
    expect(told).toEqual(['a1', 'b1', 'b2']);
  });

  it('may come and go while they are told', () => {
    const told: string[] = [];
    const listeners = new Listeners<[]>();
    const undo = listeners.add(() => {
      told.push('once');
      undo();
      listeners.add(() => told.push('later'));
    });
    listeners.add(() => told.push('always'));
    listeners.tell();
    expect(told).toEqual(['once', 'always']);
    listeners.tell();
    expect(told).toEqual(['once', 'always', 'always', 'later']);
  });
});
