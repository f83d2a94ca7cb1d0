/** Checks of Kubernetes objects against the schemas of their kinds, as far as schemas go: rules in CEL are not evaluated. */

/** OpenAPI v3 of a CRD, or JSON Schema of Kubernetes itself. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly not?: Schema;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
}

export interface Schemas {
  /** Of custom resources, by `group/version Kind`. */
  readonly kinds: Readonly<Record<string, Schema>>;
  /** Of Kubernetes itself, by their long names. */
  readonly definitions: Readonly<Record<string, Schema>>;
}

export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

/** What is wrong with an object, one line for each thing; a kind without a schema is wrong, too. */
export function schemaProblems(object: KubeObject, schemas: Schemas): string[] {
  const { apiVersion, kind, metadata } = object;
  const where = `${kind}/${metadata?.name}`;
  const schema = schemas.kinds[`${apiVersion} ${kind}`] ?? coreSchema(object, schemas);
  if (schema === undefined) return [`${where}: no schema for ${apiVersion} ${kind}`];
  if (!/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(metadata?.name ?? '')) return [`${where}: not a name`];
  const problems: string[] = [];
  const { properties = {} } = resolve(schema, schemas);
  for (const [name, value] of Object.entries(object)) {
    if (['apiVersion', 'kind', 'metadata'].includes(name)) continue;
    const inner = properties[name];
    if (inner === undefined) problems.push(`${where}.${name}: unknown field`);
    else check(value, inner, `${where}.${name}`, { schemas, problems });
  }
  return problems;
}

function coreSchema({ apiVersion, kind }: KubeObject, { definitions }: Schemas): Schema | undefined {
  return Object.values(definitions).find(
    ({ properties: { apiVersion: version, kind: name } = {} }) =>
      version?.enum?.includes(apiVersion) === true && name?.enum?.includes(kind) === true,
  );
}

interface Context {
  readonly schemas: Schemas;
  readonly problems: string[];
}

function resolve(schema: Schema, { definitions }: Schemas): Schema {
  if (schema.$ref === undefined) return schema;
  const found = definitions[schema.$ref.replace(/^.*#\/\$defs\//, '')];
  if (found === undefined) throw new Error(`no definition ${schema.$ref}`);
  return found;
}

function check(value: unknown, given: Schema, path: string, context: Context): void {
  const schema = resolve(given, context.schemas);
  const wrong = (what: string): void => {
    context.problems.push(`${path}: ${what}`);
  };
  if (!hasType(value, schema)) {
    wrong(`${JSON.stringify(value)} is not of type ${JSON.stringify(schema.type)}`);
    return;
  }
  if (schema.enum !== undefined && !schema.enum.includes(value)) wrong(`${value} is none of ${schema.enum.join(', ')}`);
  if (typeof value === 'number') {
    if (value < (schema.minimum ?? value) || value > (schema.maximum ?? value)) wrong(`${value} is out of range`);
  } else if (typeof value === 'string') {
    if (schema.pattern !== undefined && !new RegExp(schema.pattern).test(value))
      wrong(`${value} is not like ${schema.pattern}`);
    if (value.length < (schema.minLength ?? 0) || value.length > (schema.maxLength ?? value.length))
      wrong('wrong length');
  } else if (Array.isArray(value)) {
    if (value.length < (schema.minItems ?? 0) || value.length > (schema.maxItems ?? value.length)) wrong('wrong count');
    if (schema.items !== undefined)
      for (const [index, item] of value.entries()) check(item, schema.items, `${path}[${index}]`, context);
  } else if (typeof value === 'object' && value !== null) {
    checkMembers(value, schema, path, context);
  }
  checkBranches(value, schema, path, context);
}

function checkMembers(value: object, schema: Schema, path: string, context: Context): void {
  const { properties = {}, additionalProperties: other } = schema;
  for (const name of schema.required ?? []) {
    if (!(name in value)) context.problems.push(`${path}.${name}: required`);
  }
  for (const [name, member] of Object.entries(value)) {
    const inner = properties[name] ?? (typeof other === 'object' ? other : undefined);
    if (inner !== undefined) check(member, inner, `${path}.${name}`, context);
    else if (other !== true && !isOpen(schema)) context.problems.push(`${path}.${name}: unknown field`);
  }
}

function isOpen(schema: Schema): boolean {
  return (
    schema['x-kubernetes-preserve-unknown-fields'] === true ||
    (schema.type === undefined && schema.properties === undefined)
  );
}

/** Branches only narrow what the schema around them describes, so unknown fields are none of their business. */
function checkBranches(value: unknown, schema: Schema, path: string, context: Context): void {
  const fits = (branch: Schema): boolean => {
    const problems: string[] = [];
    check(value, { 'x-kubernetes-preserve-unknown-fields': true, ...branch }, path, { ...context, problems });
    return problems.length === 0;
  };
  if (schema.oneOf !== undefined && schema.oneOf.filter(fits).length !== 1)
    context.problems.push(`${path}: not exactly one of`);
  if (schema.anyOf !== undefined && !schema.anyOf.some(fits)) context.problems.push(`${path}: none of`);
  if (schema.allOf !== undefined && !schema.allOf.every(fits)) context.problems.push(`${path}: not all of`);
  if (schema.not !== undefined && fits(schema.not)) context.problems.push(`${path}: must not be`);
}

function hasType(value: unknown, schema: Schema): boolean {
  if (schema['x-kubernetes-int-or-string'] === true) return typeof value === 'string' || Number.isInteger(value);
  if (schema.type === undefined) return true;
  const types: readonly string[] = typeof schema.type === 'string' ? [schema.type] : schema.type;
  return types.some((type) => {
    if (type === 'integer') return Number.isInteger(value);
    if (type === 'array') return Array.isArray(value);
    if (type === 'null') return value === null;
    if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
    return typeof value === type;
  });
}
