import { describe, expect, it } from 'vitest';
import { type ConnectorMode, connectorModeOf, decodeParams, prefillParams } from './transfer-params.ts';

const SOURCE = { host: '10.0.0.1', bootstrapPort: null, engineId: null, rank: null };
const RETURNED = '{"remote_engine_id":"e"}';

describe('policies 4.4 connectors', () => {
  it.each<[prefill: string | null, decode: string | null, ConnectorMode]>([
    ['NixlConnector', 'NixlConnector', 'nixl'],
    ['NixlConnector', null, 'nixl'],
    [null, 'NixlConnector', 'passthrough'],
    ['MooncakeConnector', 'MooncakeConnector', 'mooncake'],
    ['mooncake', 'MOONCAKECONNECTOR', 'mooncake'],
    ['MooncakeConnector', null, 'passthrough'],
    ['MooncakeConnector', 'MooncakeStoreConnector', 'passthrough'],
    ['MooncakeStoreConnector', 'MooncakeStoreConnector', 'passthrough'],
    ['nixl', 'nixl', 'nixl'],
    ['NixlPushConnector', 'NixlPushConnector', 'passthrough'],
    ['LMCacheConnectorV1', 'LMCacheConnectorV1', 'passthrough'],
    ['', '', 'passthrough'],
    [null, null, 'passthrough'],
  ])('%j and %j: %s', (prefill, decode, mode) => expect(connectorModeOf(prefill, decode)).toBe(mode));

  it.each<[ConnectorMode, string | null]>([
    ['nixl', '{"do_remote_decode":true,"do_remote_prefill":false}'],
    ['mooncake', '{"do_remote_decode":true,"do_remote_prefill":false,"transfer_id":"xfer-1"}'],
    ['passthrough', null],
  ])('%s tells the prefill worker', (mode, params) => expect(prefillParams(mode, 'xfer-1')).toBe(params));

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
    [
      'mooncake without an engine id',
      'mooncake',
      null,
      SOURCE,
      '{"do_remote_decode":false,"do_remote_prefill":true,"transfer_id":"xfer-1","remote_bootstrap_addr":"http://10.0.0.1:8998"}',
    ],
  ])('%s', (_, mode, returned, source, params) => {
    expect(decodeParams(mode, 'xfer-1', { ...SOURCE, ...source }, returned)).toBe(params);
  });
});
