import { MemberNames } from '../request/json-scanner.ts';

/** Places of the top-level members that dispatch to two legs reads or writes (policies 4.3, 4.4). */
export const MODEL = 0;
export const STREAM = 1;
export const STREAM_OPTIONS = 2;
export const N = 3;
export const MIN_TOKENS = 4;
export const MAX_TOKENS = 5;
export const MAX_COMPLETION_TOKENS = 6;
export const MAX_OUTPUT_TOKENS = 7;
export const KV_TRANSFER_PARAMS = 8;
export const PROMPT = 9;
export const INPUT_IDS = 10;
export const BOOTSTRAP_HOST = 11;
export const BOOTSTRAP_PORT = 12;
export const BOOTSTRAP_ROOM = 13;
export const ROUTED_DP_RANK = 14;
export const DISAGG_PREFILL_DP_RANK = 15;
export const DATA_PARALLEL_RANK = 16;

export const MEMBERS = new MemberNames([
  'model',
  'stream',
  'stream_options',
  'n',
  'min_tokens',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'kv_transfer_params',
  'prompt',
  'input_ids',
  'bootstrap_host',
  'bootstrap_port',
  'bootstrap_room',
  'routed_dp_rank',
  'disagg_prefill_dp_rank',
  'data_parallel_rank',
]);
