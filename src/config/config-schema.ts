import { z } from 'zod';
import { fileKey } from './setting.ts';
import { TABLE } from './settings-table.ts';

type Json = Readonly<Record<string, unknown>>;

/** JSON Schema of the config file (interface 4), for editors and checks before a roll-out. `worker` describes a worker. */
export function configSchema(worker: z.ZodType): Json {
  const properties: Record<string, Json> = {};
  for (const [key, setting] of TABLE) {
    // The config file does not name itself.
    if (key === 'config') continue;
    const later = setting.later === true ? ' (not supported by this version yet)' : '';
    properties[fileKey(key)] = {
      description: `${setting.help}${later}`,
      ...schemaOf(setting.type.schema),
      default: setting.default,
    };
  }
  properties['policy'] = { ...properties['policy'], ...policySchema(properties) };
  const listOf = (description: string) => ({ description, type: 'array', items: { $ref: '#/$defs/worker' } });
  const lists = {
    workers: listOf('workers, besides those of worker_urls'),
    prefill_workers: listOf('prefill workers, besides those of prefill; needs pd_disaggregation'),
    decode_workers: listOf('decode workers, besides those of decode; needs pd_disaggregation'),
  };
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Configuration file of smg-envoy',
    type: 'object',
    additionalProperties: false,
    properties: { ...lists, ...sorted(properties) },
    $defs: { worker: schemaOf(worker) },
  };
}

/** A name, or an object that sets the parameters of one policy. */
function policySchema(properties: Readonly<Record<string, Json>>): Json {
  const { description: _d, default: _v, type: _t, ...name } = properties['policy'] ?? {};
  const own = TABLE.filter(([, setting]) => setting.policies !== undefined).map(([key]) => fileKey(key));
  const members = Object.fromEntries(own.map((key) => [key, { $ref: `#/properties/${key}` }]));
  const object = {
    type: 'object',
    required: ['type'],
    additionalProperties: false,
    properties: { type: name, ...members },
  };
  return { type: ['string', 'object'], enum: undefined, anyOf: [{ type: 'string', ...name }, object] };
}

function schemaOf(schema: z.ZodType): Json {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return json;
}

function sorted(properties: Readonly<Record<string, Json>>): Record<string, Json> {
  return Object.fromEntries(Object.entries(properties).sort(([a], [b]) => (a < b ? -1 : 1)));
}
