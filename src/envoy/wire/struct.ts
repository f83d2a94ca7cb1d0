import type { Fields } from './fields.ts';
import { WireReader } from './wire-reader.ts';
import type { WireWriter } from './wire-writer.ts';

/** Fields of `google.protobuf.Struct`, of its entries, and of `Value` and `ListValue`. */
const FIELDS = 1;
const KEY = 1;
const VALUE = 2;
const NULL = 1;
const NUMBER = 2;
const STRING = 3;
const BOOL = 4;
const STRUCT = 5;
const LIST = 6;
const VALUES = 1;
const DOUBLE_TAG = (NUMBER << 3) | 1;
/** What a client or filter nests deeper is read as nothing. */
const MAX_DEPTH = 16;

/** The struct `bytes[from, to)` as plain values; what is broken of it is left out. */
export function readStruct(bytes: Buffer, from: number, to: number): Fields {
  return structOf(bytes, from, to, 0);
}

/** One text of a struct that is written. */
export function writeStructText(writer: WireWriter, key: string, value: string): void {
  const mark = writer.length;
  writer.text(STRING, value);
  writer.wrap(VALUE, mark);
  writer.text(KEY, key);
  writer.wrap(FIELDS, mark);
}

/** Makes all that was written since `mark` a struct inside of one, by its name. */
export function wrapStruct(writer: WireWriter, key: string, mark: number): void {
  writer.wrap(STRUCT, mark);
  writer.wrap(VALUE, mark);
  writer.text(KEY, key);
  writer.wrap(FIELDS, mark);
}

function structOf(bytes: Buffer, from: number, to: number, depth: number): Fields {
  const fields: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  const reader = new WireReader().open(bytes, from, to);
  const entry = new WireReader();
  while (reader.next()) {
    if (reader.field !== FIELDS) continue;
    entry.open(bytes, reader.from, reader.to);
    let key = '';
    let value: unknown;
    while (entry.next()) {
      if (entry.field === KEY) key = entry.utf8();
      else if (entry.field === VALUE) value = readValue(bytes, entry.from, entry.to, depth);
    }
    if (!entry.broken) fields[key] = value;
  }
  return fields;
}

function readValue(bytes: Buffer, from: number, to: number, depth: number): unknown {
  let value: unknown;
  const reader = new WireReader().open(bytes, from, to);
  let at = from;
  while (reader.next()) {
    if (reader.field === STRING) value = reader.utf8();
    else if (reader.numberField === BOOL) value = reader.number !== 0;
    else if (reader.numberField === NULL) value = null;
    else if (reader.field === STRUCT && depth < MAX_DEPTH) value = structOf(bytes, reader.from, reader.to, depth + 1);
    else if (reader.field === LIST && depth < MAX_DEPTH) value = listOf(bytes, reader.from, reader.to, depth + 1);
    else if (bytes[at] === DOUBLE_TAG) value = bytes.readDoubleLE(at + 1);
    at = reader.position;
  }
  return value;
}

function listOf(bytes: Buffer, from: number, to: number, depth: number): unknown[] {
  const values: unknown[] = [];
  const reader = new WireReader().open(bytes, from, to);
  while (reader.next()) if (reader.field === VALUES) values.push(readValue(bytes, reader.from, reader.to, depth));
  return values;
}
