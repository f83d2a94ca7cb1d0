import { MemberNames } from './json-scanner.ts';

/** Places of the top-level members that are read of a body, or written into it, whatever its endpoint; all found by one scan. */
export const RID = 0;
export const MODEL = 1;
export const STREAM = 2;
export const MESSAGES = 3;
export const SYSTEM = 4;
export const PROMPT = 5;
export const TEXT = 6;
export const INPUT_IDS = 7;
export const INPUT = 8;
export const QUERY = 9;
export const CACHE_SALT = 10;
export const EXTRA_KEY = 11;
export const LORA_PATH = 12;
export const LORA_ID = 13;
export const DATA_PARALLEL_RANK = 14;

export const BODY_MEMBERS = new MemberNames([
  'rid',
  'model',
  'stream',
  'messages',
  'system',
  'prompt',
  'text',
  'input_ids',
  'input',
  'query',
  'cache_salt',
  'extra_key',
  'lora_path',
  'lora_id',
  'data_parallel_rank',
]);

/** The same, and further members after them. */
export function bodyMembersAnd(names: readonly string[]): MemberNames {
  const further = new Set(names.filter((name) => !BODY_MEMBERS.names.includes(name)));
  return further.size === 0 ? BODY_MEMBERS : new MemberNames([...BODY_MEMBERS.names, ...further]);
}
