import { describe, expect, it } from 'vitest';
import { discoveryProblems, findsWorkers } from './discovery-checks.ts';
import { flagName } from './setting.ts';

const NONE = {
  serviceDiscovery: false,
  selector: [],
  prefillSelector: [],
  decodeSelector: [],
  workersFile: null,
  config: null,
  workerUrls: ['http://a:1'],
  prefill: ['http://b:1'],
  decode: ['http://c:1'],
};
const ON = { ...NONE, serviceDiscovery: true };
const APP = ['app=engine'];

describe('selectors of Kubernetes discovery', () => {
  it.each<[object, boolean, string[]]>([
    [NONE, false, []],
    [{ ...NONE, prefillSelector: APP }, false, []],
    [{ ...ON, selector: APP }, false, []],
    [ON, false, ['--service-discovery: needs --selector']],
    [{ ...ON, selector: APP, decodeSelector: APP }, false, ['--decode-selector needs --pd-disaggregation']],
    [{ ...ON, prefillSelector: APP, decodeSelector: APP }, true, []],
    [{ ...ON, decodeSelector: APP }, true, []],
    [
      { ...ON, selector: APP },
      true,
      ['--service-discovery: needs --prefill-selector or --decode-selector with --pd-disaggregation'],
    ],
  ])('%j, disaggregated %s: %j', (change, disaggregated, problems) => {
    expect(discoveryProblems({ ...NONE, ...change }, disaggregated, flagName)).toEqual(problems);
  });
});

describe('decisions 19 workers may still come', () => {
  it.each<[object, boolean]>([
    [{}, false],
    [{ serviceDiscovery: true }, true],
    [{ workersFile: '/w' }, true],
    [{ config: '/c' }, true],
    [{ workerUrls: ['dns+http://a'] }, true],
    [{ prefill: ['dns+http://a', '9000'] }, true],
    [{ decode: ['http://c:1', 'dns+http://a'] }, true],
  ])('%j: %s', (change, finds) => {
    expect(findsWorkers({ ...NONE, ...change })).toBe(finds);
  });
});
