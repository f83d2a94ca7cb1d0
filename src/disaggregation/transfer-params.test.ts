import { describe, expect, it } from 'vitest';
import { type ConnectorMode, connectorModeOf, decodeParams, prefillParams } from './transfer-params.ts';

const SOURCE = { host: '10.0.0.1', bootstrapPort: null, engineId: null, rank: null };
const RETURNED = '{"remote_engine_id":"e"}';

describe('policies 4.4 connectors', () => {
  it.each<[string | null, ConnectorMode]>([
    ['NixlConnector', 'nixl'],
    ['nixl', 'nixl'],
    ['NixlPushConnector', 'passthrough'],
    ['MooncakeConnector', 'mooncake'],
    ['MOONCAKE', 'mooncake'],
    ['MooncakeStoreConnector', 'passthrough'],
    ['LMCacheConnectorV1', 'passthrough'],
    ['', 'passthrough'],
    [null, 'passthrough'],
  ])('%j is %s', (connector, mode) => expect(connectorModeOf(connector)).toBe(mode));

  it.each<[ConnectorMode, string | null]>([
    ['nixl', '{"do_remote_decode":true,"do_remote_prefill":false}'],
    ['mooncake', '{"do_remote_decode":true,"do_remote_prefill":false,"transfer_id":"xfer-1"}'],
    ['passthrough', null],
  ])('%s tells the prefill worker', (mode, params) => {
    expect(prefillParams(mode, 'xfer-1', { ...SOURCE, engineId: 'e1' })).toBe(params);
  });

  it.each<[string, ConnectorMode, string | null, object, string | null]>([
    ['nixl hands on what prefill returned', 'nixl', RETURNED, SOURCE, RETURNED],
    ['nixl without an answer: decode computes the prompt', 'nixl', null, SOURCE, null],
    ['passthrough hands on what prefill returned', 'passthrough', RETURNED, SOURCE, RETURNED],
    ['passthrough without an answer', 'passthrough', null, SOURCE, null],
    [
      'mooncake names the engine itself',
      'mooncake',
      RETURNED,
      { host: 'p.local', bootstrapPort: 9000, engineId: 'e1', rank: null },
      '{"do_remote_decode":false,"do_remote_prefill":true,"transfer_id":"xfer-1","remote_engine_id":"e1","remote_bootstrap_addr":"http://p.local:9000"}',
    ],
    [
      'mooncake with a rank and the default port',
      'mooncake',
      null,
      { host: '[fd00::1]', bootstrapPort: null, engineId: 'e1', rank: 3 },
      '{"do_remote_decode":false,"do_remote_prefill":true,"transfer_id":"xfer-1","remote_engine_id":"e1_dp3","remote_bootstrap_addr":"http://[fd00::1]:8998"}',
    ],
    ['mooncake without an engine id', 'mooncake', RETURNED, SOURCE, null],
  ])('%s', (_, mode, returned, source, params) => {
    expect(decodeParams(mode, 'xfer-1', { ...SOURCE, ...source }, returned)).toBe(params);
  });

  it('mooncake without an engine id is no transfer', () => {
    expect(prefillParams('mooncake', 'xfer-1', SOURCE)).toBeNull();
  });
});
