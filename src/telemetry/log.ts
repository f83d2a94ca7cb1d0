import type { DestinationStream } from 'pino';
import { pino } from 'pino';
import { prettyFactory } from 'pino-pretty';

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * All that a log line may carry besides its message. A fixed list, so that no prompt, token or key gets into a line by
 * the way; a sticky key appears as its `keyHash` only.
 */
export interface LogFields {
  /** Worker id. */
  readonly worker?: string;
  readonly status?: string;
  readonly model?: string;
  readonly policy?: string;
  readonly branch?: string;
  readonly source?: string;
  /** `keyHash` of a sticky key. */
  readonly keyHash?: string;
  readonly pickId?: string;
  readonly address?: string;
  readonly peer?: string;
  readonly method?: string;
  /** Route pattern, flag name, config key or file: never a request's own path with its query. */
  readonly path?: string;
  readonly line?: number;
  readonly code?: string;
  readonly reason?: string;
  readonly version?: string | number;
  readonly count?: number;
  readonly durationMs?: number;
  /** Id of an operator's control-plane key; never the key. */
  readonly actor?: string;
  readonly error?: unknown;
}

export interface Log {
  error(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
  /** False when a line of this level would go nowhere: ask before costly fields are made. */
  enabled(level: LogLevel): boolean;
  /** The same log with a `component` on each line. */
  child(component: string): Log;
  /** From now on, for this log and all its children. */
  setLevel(level: LogLevel): void;
}

export interface LogOptions {
  readonly level: LogLevel;
  /** One JSON object a line instead of readable text. */
  readonly json: boolean;
  /** Where lines go; stderr by default, as stdout carries the ready line only. */
  readonly destination?: DestinationStream;
}

/**
 * A log that writes synchronously and in this thread: nothing is lost at exit and nothing must be flushed, at a price
 * that lines on changes of state (not on requests) can pay.
 */
export function createLog({ level, json, destination }: LogOptions): Log {
  const output = destination ?? pino.destination({ fd: 2, sync: true });
  const options = {
    level,
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (name: string) => ({ level: name }) },
    serializers: { error: pino.stdSerializers.err },
    errorKey: 'error',
  };
  const root = pino(options, json ? output : readable(output, destination === undefined));
  return wrap(root, [root]);
}

/** Not pino-pretty's own stream: that one hands lines on later, and those of the last turn would be lost at exit. */
function readable(output: DestinationStream, terminal: boolean): DestinationStream {
  const colorize = terminal && process.stderr.isTTY === true && process.env['NO_COLOR'] === undefined;
  const format = prettyFactory({ colorize, ignore: 'pid', translateTime: 'SYS:HH:MM:ss.l', singleLine: true });
  return { write: (line) => output.write(format(line)) };
}

/** @param family every logger of one root, as a child's level does not follow its parent's */
function wrap(logger: pino.Logger, family: pino.Logger[]): Log {
  return {
    error: (message, fields) => logger.error(fields ?? {}, message),
    warn: (message, fields) => logger.warn(fields ?? {}, message),
    info: (message, fields) => logger.info(fields ?? {}, message),
    debug: (message, fields) => logger.debug(fields ?? {}, message),
    enabled: (level) => logger.isLevelEnabled(level),
    child: (component) => {
      const child = logger.child({ component });
      family.push(child);
      return wrap(child, family);
    },
    setLevel: (level) => {
      for (const each of family) each.level = level;
    },
  };
}
