import { check, type Given, textOf } from './given.ts';
import { ENV_NAMES } from './names.ts';
import { type AnyKey, settingOf } from './settings-table.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/**
 * Values of the environment. An empty variable counts as unset. Names that are not in the table are not ours to judge,
 * and Kubernetes writes the address of a service `smg-grpc` into `SMG_GRPC_PORT` (decisions 44).
 */
export function fromEnv(env: Env, problems: string[], warnings: string[]): Map<AnyKey, Given> {
  const values = new Map<AnyKey, Given>();
  for (const [name, key] of ENV_NAMES) {
    const text = env[name];
    if (text === undefined || text === '') continue;
    const setting = settingOf(key);
    if (setting.type.port === true && text.startsWith('tcp://')) {
      warnings.push(`${name}=${text} is the address of a Kubernetes service and is ignored`);
      continue;
    }
    const words = setting.type.arity === 'many' ? text.split(/\s+/).filter((word) => word !== '') : [text.trim()];
    const result = check(setting, setting.type.fromWords(words), 'env', name, textOf(text));
    if ('problem' in result) {
      problems.push(result.problem);
      continue;
    }
    const other = values.get(key);
    if (other !== undefined && JSON.stringify(other.value) !== JSON.stringify(result.given.value)) {
      problems.push(`${other.name} and ${name} contradict each other: give one of them`);
    }
    values.set(key, result.given);
  }
  return values;
}
