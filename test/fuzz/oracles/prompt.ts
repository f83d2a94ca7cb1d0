/** Policies 6.1 once more, over parsed bodies. */
import { isObject, type Json, type JsonObject } from './json.ts';

/** Null where this oracle has no rule. */
export function routingText(kind: string, body: JsonObject): string | null {
  const get = (name: string): Json | undefined => body.members.get(name);
  switch (kind) {
    case 'chat':
      return joined(messages(get('messages'), true));
    case 'messages':
    case 'count_tokens':
      return joined([...content(get('system'), ['text']), ...messages(get('messages'), false)]);
    case 'completions':
      return strings(get('prompt')).join(' ');
    case 'embeddings':
    case 'classify':
      return strings(get('input')).join(' ');
    case 'rerank':
      return strings(get('query')).join(' ');
    case 'responses':
      return items(get('input')).join(' ');
    default:
      return null;
  }
}

/** Null unless the value is a list of ids, or a batch whose first one is. @param raw as it is spelled: 7e0 is no id */
export function inputIdsOracle(value: Json | undefined, raw: string): number[] | null {
  const list = Array.isArray(value) && Array.isArray(value[0]) ? value[0] : value;
  if (!Array.isArray(list) || list.length === 0 || !/^[[\]\d,\s]+$/.test(raw)) return null;
  const ids = list.filter((id) => typeof id === 'number' && id <= 0xffff_ffff);
  return ids.length === list.length ? (ids as number[]) : null;
}

function joined(pieces: readonly string[]): string {
  return pieces.filter((piece) => piece !== '').join(' ');
}

function messages(value: Json | undefined, reasons: boolean): string[] {
  return list(value).flatMap((message) => [
    ...content(member(message, 'content'), ['text']),
    ...(reasons && member(message, 'role') === 'assistant' ? text(member(message, 'reasoning_content')) : []),
  ]);
}

function items(value: Json | undefined): string[] {
  const found = list(value).flatMap((item) => {
    const type = member(item, 'type');
    if (type === 'function_call' || type === 'function_call_output') return [];
    return content(member(item, 'content'), type === 'reasoning' ? ['reasoning_text'] : ['input_text', 'output_text']);
  });
  return [...text(value), ...found];
}

function content(value: Json | undefined, types: readonly Json[]): string[] {
  const parts = list(value).filter((part) => types.includes(member(part, 'type') ?? null));
  return [...text(value), ...parts.flatMap((part) => text(member(part, 'text')))];
}

function strings(value: Json | undefined): string[] {
  return [...text(value), ...list(value).flatMap(text)];
}

function text(value: Json | undefined): string[] {
  return typeof value === 'string' ? [value] : [];
}

function list(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}

function member(value: Json, name: string): Json | undefined {
  return isObject(value) ? value.members.get(name) : undefined;
}
