import type { DescEnum, DescField, DescMessage, DescService, Registry } from '@bufbuild/protobuf';

/** Everything in which a message of ours contradicts upstream's; fields that only upstream has do not count. */
export function messageDifferences(ours: DescMessage, upstream: Registry): string[] {
  const theirs = upstream.getMessage(ours.typeName);
  if (theirs === undefined) return [`${ours.typeName}: no such message upstream`];
  return ours.fields.flatMap((field) => {
    const counterpart = theirs.fields.find((f) => f.name === field.name);
    if (counterpart === undefined) return [`${field}: no such field upstream`];
    const [a, b] = [fieldShape(field), fieldShape(counterpart)];
    return a === b ? [] : [`${field}: ours is ${a}, upstream's ${b}`];
  });
}

/** Everything in which an enum of ours contradicts upstream's. */
export function enumDifferences(ours: DescEnum, upstream: Registry): string[] {
  const theirs = upstream.getEnum(ours.typeName);
  if (theirs === undefined) return [`${ours.typeName}: no such enum upstream`];
  return ours.values.flatMap((value) => {
    const counterpart = theirs.values.find((v) => v.name === value.name);
    if (counterpart === undefined) return [`${value}: no such value upstream`];
    return value.number === counterpart.number
      ? []
      : [`${value}: ours is ${value.number}, upstream's ${counterpart.number}`];
  });
}

/** Everything in which a service of ours contradicts upstream's. */
export function serviceDifferences(ours: DescService, upstream: Registry): string[] {
  const theirs = upstream.getService(ours.typeName);
  if (theirs === undefined) return [`${ours.typeName}: no such service upstream`];
  return ours.methods.flatMap((method) => {
    const counterpart = theirs.methods.find((m) => m.name === method.name);
    if (counterpart === undefined) return [`${method}: no such method upstream`];
    const [a, b] = [method, counterpart].map((m) => `${m.methodKind} ${m.input.typeName} -> ${m.output.typeName}`);
    return a === b ? [] : [`${method}: ours is ${a}, upstream's ${b}`];
  });
}

/** Number, label, type, presence and oneof in one text. */
function fieldShape(field: DescField): string {
  const type = field.message?.typeName ?? field.enum?.typeName ?? ('scalar' in field ? field.scalar : undefined);
  const key = field.fieldKind === 'map' ? ` by ${field.mapKey}` : '';
  const packed = field.fieldKind === 'list' && field.packed ? ' packed' : '';
  return `${field.number} ${field.fieldKind} of ${type}${key}${packed}, presence ${field.presence}, oneof ${field.oneof?.name}`;
}
