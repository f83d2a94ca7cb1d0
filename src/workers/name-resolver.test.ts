import { afterEach, describe, expect, it, vi } from 'vitest';
import { until } from '../../test/support/until.ts';
import { chooseAddress, NameResolver, nextAddress } from './name-resolver.ts';

afterEach(() => {
  vi.useRealTimers();
});

function dnsError(code: string): Error {
  return Object.assign(new Error(code), { code });
}

describe('interface 6 a DNS name is one worker', () => {
  it.each([
    [['a', 'b'], '', 'a'],
    [['a', 'b'], 'b', 'b'],
    [['b', 'a'], 'c', 'b'],
    [[], 'a', ''],
  ])('of %j with %j in use, takes %j', (addresses, current, expected) => {
    expect(chooseAddress(addresses, current)).toBe(expected);
  });

  it.each([
    [['a', 'b'], 'a', 'b'],
    [['a', 'b'], 'b', 'a'],
    [['a'], 'a', 'a'],
    [['a'], 'x', 'a'],
    [[], 'a', ''],
  ])('of %j after %j comes %j', (addresses, current, expected) => {
    expect(nextAddress(addresses, current)).toBe(expected);
  });

  it('asks the system, hosts file included, IPv4 first', async () => {
    const resolver = new NameResolver();
    const told: (readonly string[])[] = [];
    resolver.follow('localhost', (addresses) => told.push(addresses));

    await until(() => told.length > 0, 'localhost resolved');
    resolver.close();

    expect(told[0]?.[0]).toBe('127.0.0.1');
  });

  it('looks up at once and again each interval, once for all followers', async () => {
    vi.useFakeTimers();
    const answers = [['1.1.1.1'], ['2.2.2.2']];
    const lookUp = vi.fn(async () => answers.shift() ?? []);
    const resolver = new NameResolver({ intervalMs: 5_000, lookUp });
    const told: string[] = [];
    resolver.follow('w', (addresses) => told.push(`a ${addresses}`));
    const undo = resolver.follow('w', (addresses) => told.push(`b ${addresses}`));

    await vi.advanceTimersByTimeAsync(0);
    expect([lookUp.mock.calls.length, told]).toEqual([1, ['a 1.1.1.1', 'b 1.1.1.1']]);

    undo();
    await vi.advanceTimersByTimeAsync(5_000);
    expect([lookUp.mock.calls.length, told.at(-1), resolver.addresses('w')]).toEqual([2, 'a 2.2.2.2', ['2.2.2.2']]);
    resolver.close();
  });

  it('takes an address away for a definite answer only', async () => {
    const answers: (() => readonly string[])[] = [
      () => ['1.1.1.1'],
      () => {
        throw dnsError('EAI_AGAIN');
      },
      () => {
        throw dnsError('ENOTFOUND');
      },
    ];
    const resolver = new NameResolver({ lookUp: async () => answers.shift()?.() ?? [] });
    const told: (readonly string[])[] = [];
    resolver.follow('w', (addresses) => told.push(addresses));

    for (let i = 0; i < 3; i += 1) await resolver.refresh('w');
    resolver.close();

    expect(told).toEqual([['1.1.1.1'], ['1.1.1.1'], []]);
  });

  it('asks no more after its end', async () => {
    vi.useFakeTimers();
    const lookUp = vi.fn(async () => ['1.1.1.1']);
    const resolver = new NameResolver({ intervalMs: 10, lookUp });
    const told = vi.fn();
    const undo = resolver.follow('w', told);

    undo();
    await vi.advanceTimersByTimeAsync(100);
    expect(lookUp).toHaveBeenCalledTimes(1);
    resolver.follow('w', told);
    resolver.close();
    await vi.advanceTimersByTimeAsync(100);

    expect(told).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });
});
