import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { manualPinKey, overridePinKey } from './pin-key.ts';

describe('sticky-sessions 3.3 stored key', () => {
  it.each([
    ['llama-3', 'single', 'conv', '7:llama-3:s:conv'],
    ['llama-3', 'prefill', 'conv', '7:llama-3:p:conv'],
    ['unknown', 'single', 'conv', '7:unknown:s:conv'],
    ['org/a:b', 'decode', 'x:y', '7:org/a:b:d:x:y'],
  ] as const)('model %s, %s, key %s: %s', (model, leg, key, stored) => {
    expect(overridePinKey(model, leg, key)).toBe(stored);
  });

  it('counts the bytes of the model id, not its characters', () => {
    expect(overridePinKey('modèle', 'single', 'k')).toBe('7:modèle:s:k');
  });

  it('is another for another model, leg or key', () => {
    const text = fc.string({ unit: fc.constantFrom('a', ':', '1', 's', 'p') });
    const leg = fc.constantFrom('single', 'prefill', 'decode');
    fc.assert(
      fc.property(text, leg, text, text, leg, text, (model, legA, key, otherModel, legB, otherKey) => {
        const same = model === otherModel && legA === legB && key === otherKey;
        expect(overridePinKey(model, legA, key) === overridePinKey(otherModel, legB, otherKey)).toBe(same);
        expect(manualPinKey(legA, key)).not.toBe(overridePinKey(otherModel, legB, otherKey));
      }),
    );
  });
});

describe('sticky-sessions 3.8 stored key of manual', () => {
  it('has no model', () => {
    expect(manualPinKey('single', 'conv')).toBe('manual:s:conv');
    expect(manualPinKey('prefill', 'conv')).toBe('manual:p:conv');
  });
});

describe('a key of any length under manual', () => {
  const long = 'k'.repeat(60_000);

  it('is stored in bounded memory', () => {
    expect(manualPinKey('single', long).length).toBeLessThan(100);
    expect(manualPinKey('single', 'k'.repeat(256))).toBe(`manual:s:${'k'.repeat(256)}`);
  });

  it('stays a key of its own', () => {
    const keys = [long, `${long}k`, 'k'.repeat(257), manualPinKey('single', long).slice('manual:s:\u0000'.length)];
    expect(new Set(keys.map((key) => manualPinKey('single', key))).size).toBe(4);
    expect(manualPinKey('single', long)).toBe(manualPinKey('single', long));
  });
});
