import type { CheckSettings } from '../check-settings.ts';
import type { ConfigNode } from '../config-node.ts';
import { matchesAny } from '../string-match.ts';
import type { Asker } from '../subject/asker.ts';
import type { Trap } from '../trap.ts';
import { askingChains } from './askers.ts';

/** What clients can set, and what the service gets to see. */
export const EXPOSURE_TRAPS: readonly Trap[] = [
  {
    id: 'T53',
    level: 'warning',
    title: 'clients can set x-envoy-* headers',
    consequence: 'They choose timeouts and retries for themselves.',
    into: 'the HTTP connection manager',
    cure: 'use_remote_address: true',
    // envoy 2.2
    remark: 'Not where original_ip_detection_extensions tell who the client is.',
    *find(subject) {
      for (const { manager } of askingChains(subject)) {
        const used = manager.get('use_remote_address');
        if (manager.get('original_ip_detection_extensions').items().length > 0) continue;
        if (used.bool(false) === false) yield { at: used };
      }
    },
  },
  {
    id: 'T61',
    level: 'error',
    title: 'a header that the service reads is hidden from it',
    consequence:
      'It sees no key, hint or tenant there: conversations are scattered over the workers, or tenants share keys.',
    into: 'forward_rules of the ext_proc filter',
    cure: '# take the header out of disallowed_headers, or into allowed_headers',
    // envoy 2.2
    *find({ askers }, { readHeaders }) {
      for (const asker of askers) {
        const hidden = readHeaders.filter((name) => isForwarded(asker, name) === false);
        if (hidden.length > 0) yield { at: rulesPlace(asker), found: hidden.join(', ') };
      }
    },
  },
  {
    id: 'T62',
    level: 'warning',
    title: 'secrets go to the service without need',
    consequence: 'Whoever reads the memory of the service reads them.',
    into: 'typed_config of the ext_proc filter',
    cure: 'forward_rules: {disallowed_headers: {patterns: [{exact: authorization}, {exact: cookie}]}}',
    // envoy 2.2
    *find({ askers }, settings) {
      for (const asker of askers) {
        const shown = settings.hiddenHeaders.filter((name) => isForwarded(asker, name) === true);
        if (shown.length === 0) continue;
        yield { at: rulesPlace(asker), found: shown.join(', '), cure: cureFor(asker, settings) };
      }
    },
  },
];

function rules({ config, kind }: Asker): ConfigNode {
  return kind === 'ext_proc' ? config.get('forward_rules') : config;
}

function rulesPlace(asker: Asker): ConfigNode {
  if (asker.kind === 'ext_proc') return asker.config.get('forward_rules');
  const hiding = asker.config.get('disallowed_headers');
  return hiding.exists ? hiding : asker.config;
}

/** Undefined where a patch leaves it open. */
function isForwarded(asker: Asker, header: string): boolean | undefined {
  const given = rules(asker);
  if (given.open) return undefined;
  const allowed = given.get('allowed_headers');
  const disallowed = given.get('disallowed_headers');
  if (allowed.get('patterns').items().length > 0 && !matchesAny(allowed, header)) return false;
  if (matchesAny(disallowed, header)) return false;
  return disallowed.exists || disallowed.absent ? true : undefined;
}

function cureFor({ kind }: Asker, { hiddenHeaders }: CheckSettings): string {
  const list = `disallowed_headers: {patterns: [${hiddenHeaders.map((name) => `{exact: ${name}}`).join(', ')}]}`;
  return kind === 'ext_proc' ? `forward_rules: {${list}}` : list;
}
