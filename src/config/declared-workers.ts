/** The workers that the settings themselves declare: their flags, environment variables and keys of the config file. */
import type { SettingValues } from './settings-table.ts';

/** A worker as a declaration has it (interface 6). */
export interface FlagWorker {
  readonly url: string;
  readonly worker_type?: 'prefill' | 'decode';
  readonly bootstrap_port?: number;
}

type Declaring = Pick<SettingValues, 'workerUrls' | 'prefill' | 'decode'>;

/** All of them, regular ones first. */
export function flagWorkers({ workerUrls, prefill, decode }: Declaring): readonly FlagWorker[] {
  return [
    ...workerUrls.map((url) => ({ url })),
    ...prefillWorkers(prefill),
    ...decode.map((url) => ({ url, worker_type: 'decode' as const })),
  ];
}

/** The words of `--prefill`: URLs, each with its bootstrap port or `none` behind it, or nothing. */
function prefillWorkers(words: readonly string[]): readonly FlagWorker[] {
  return words.flatMap((word, i) => {
    if (!word.includes('://')) return [];
    const port = Number(words[i + 1]);
    const worker = { url: word, worker_type: 'prefill' as const };
    return [Number.isInteger(port) ? { ...worker, bootstrap_port: port } : worker];
  });
}
