import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scopeOfTenant } from '../request/tenant.ts';
import { isManualPinKey, manualPinKey, overridePinKey, readPinKey } from './pin-key.ts';

describe('sticky-sessions 3.3 stored key', () => {
  it.each([
    ['llama-3', 'single', 'conv', '7:llama-3:s:conv'],
    ['llama-3', 'prefill', 'conv', '7:llama-3:p:conv'],
    ['unknown', 'single', 'conv', '7:unknown:s:conv'],
    ['org/a:b', 'decode', 'x:y', '7:org/a:b:d:x:y'],
  ] as const)('model %s, %s, key %s: %s', (model, leg, key, stored) => {
    expect(overridePinKey('', model, leg, key)).toBe(stored);
  });

  it('counts the bytes of the model id, not its characters', () => {
    expect(overridePinKey('', 'modèle', 'single', 'k')).toBe('7:modèle:s:k');
  });

  it('is another for another model, leg or key', () => {
    const text = fc.string({ unit: fc.constantFrom('a', ':', '1', 's', 'p') });
    const leg = fc.constantFrom('single', 'prefill', 'decode');
    fc.assert(
      fc.property(text, leg, text, text, leg, text, (model, legA, key, otherModel, legB, otherKey) => {
        const same = model === otherModel && legA === legB && key === otherKey;
        expect(overridePinKey('', model, legA, key) === overridePinKey('', otherModel, legB, otherKey)).toBe(same);
        expect(manualPinKey('', legA, key)).not.toBe(overridePinKey('', otherModel, legB, otherKey));
      }),
    );
  });
});

describe('sticky-sessions 3.8 stored key of manual', () => {
  it('has no model', () => {
    expect(manualPinKey('', 'single', 'conv')).toBe('manual:s:conv');
    expect(manualPinKey('', 'prefill', 'conv')).toBe('manual:p:conv');
  });
});

describe('a key of any length under manual', () => {
  const long = 'k'.repeat(60_000);

  it('is stored in bounded memory', () => {
    expect(manualPinKey('', 'single', long).length).toBeLessThan(100);
    expect(manualPinKey('', 'single', 'k'.repeat(256))).toBe(`manual:s:${'k'.repeat(256)}`);
  });

  it('stays a key of its own', () => {
    const keys = [long, `${long}k`, 'k'.repeat(257), manualPinKey('', 'single', long).slice('manual:s:\u0000'.length)];
    expect(new Set(keys.map((key) => manualPinKey('', 'single', key))).size).toBe(4);
    expect(manualPinKey('', 'single', long)).toBe(manualPinKey('', 'single', long));
  });
});

describe('sticky-sessions P15 pin keys of tenants', () => {
  it('have the scope in front', () => {
    expect(overridePinKey('@4:acme:', 'llama-3', 'single', 'conv')).toBe('@4:acme:7:llama-3:s:conv');
    expect(manualPinKey('@4:acme:', 'decode', 'conv', 'm')).toBe('@4:acme:manual@1:m:d:conv');
  });

  it('tell still who stored them', () => {
    expect(isManualPinKey('@6:manual:7:llama-3:s:conv')).toBe(false);
    expect(isManualPinKey('@-:manual:s:conv')).toBe(true);
  });
});

describe('reading a pin key back', () => {
  const text = fc.string({
    unit: fc.constantFrom('@', ':', '1', 's', '#', 'é', '\ud83d', '\ude00', 'm'),
    maxLength: 20,
  });
  const leg = fc.constantFrom('single', 'prefill', 'decode');
  const tenant = fc.option(text.filter((name) => /^[\x20-\x7e]*$/.test(name)));

  it('gives what it was made of', () => {
    fc.assert(
      fc.property(tenant, fc.boolean(), text, leg, text, (name, scoped, model, of, key) => {
        const scope = scoped ? scopeOfTenant(name) : '';
        const whose = scoped ? { name, digest: null } : null;
        expect(readPinKey(overridePinKey(scope, model, of, key))).toEqual({
          kind: 'override',
          tenant: whose,
          model,
          leg: of,
          key,
        });
        for (const own of [null, model]) {
          expect(readPinKey(manualPinKey(scope, of, key, own))).toEqual({
            kind: 'manual',
            tenant: whose,
            model: own,
            leg: of,
            key,
          });
        }
      }),
    );
  });

  it('gives what stands for a long key under manual, which finds it as well', () => {
    const stored = manualPinKey('', 'single', 'k'.repeat(300));
    const { key } = readPinKey(stored);

    expect(key).toHaveLength(45);
    expect(manualPinKey('', 'single', key)).toBe(stored);
  });
});
