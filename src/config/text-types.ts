import { z } from 'zod';
import type { SettingType } from './setting.ts';
import { text } from './setting-types.ts';

/** RFC 9110 5.6.2: the characters of a header name. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HOST = /^(\[[0-9a-fA-F:.%]+\]|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*|[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_.])?)$/;

/** Name of a header, kept in lower case (sticky-sessions 1.3). */
export function headerName(): SettingType<string> {
  return {
    ...text('a header name', isHeaderName, 'header'),
    schema: z
      .string()
      .refine(isHeaderName)
      .transform((name) => name.toLowerCase()),
  };
}

function isHeaderName(name: string): boolean {
  return TOKEN.test(name);
}

/** Headers that requests, Envoy or this service use for something else. */
const IN_USE =
  /^(host|content-.*|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|authorization|cookie|x-request-id|x-forwarded-.*|x-smg-.*|x-envoy-.*)$/i;

/** Name of a header that this service may write, or `auto` or `off`. */
export function ownHeader(): SettingType<string> {
  const free = (name: string): boolean => isHeaderName(name) && !IN_USE.test(name);
  return {
    ...text('a header name that nothing else uses, auto or off', free, 'name|auto|off'),
    schema: z
      .string()
      .refine(free)
      .transform((name) => name.toLowerCase()),
  };
}

/** Address or name to listen on. */
export function host(): SettingType<string> {
  return text('a host name or an IP address', (value) => HOST.test(value), 'host');
}

/** Absolute path of a URL. */
export function urlPath(): SettingType<string> {
  return text('a path that starts with /', (value) => /^\/[\x21-\x7e]*$/.test(value), 'path');
}

/** Name of a file. */
export function filePath(): SettingType<string> {
  return text('the path of a file', (value) => value !== '' && !value.includes('\0'), 'file');
}

/** `http://host[:port]` or `https://…`, absolute; nothing is looked up. */
export function httpUrl(): SettingType<string> {
  return text('an http:// or https:// URL', (value) => /^https?:\/\//.test(value) && URL.canParse(value), 'url');
}

/** `key=value`, neither side empty. */
export function pair(): SettingType<string> {
  return text('key=value', (value) => /^[^=\s]+=[^=\s]+$/.test(value), 'key=value');
}

/** One key of `--control-plane-api-keys`. */
export interface ApiKey {
  readonly id: string;
  readonly name: string;
  /** `admin` may change things, `user` may only look. */
  readonly role: ApiRole;
  readonly key: string;
}
export type ApiRole = 'admin' | 'user';

/** `id:name:role:key`; the key itself may hold colons. */
export function apiKey(): SettingType<ApiKey> {
  const schema = z
    .string()
    .regex(API_KEY)
    .transform((value) => {
      const parts = value.split(':');
      const role: ApiRole = parts[2] === 'admin' ? 'admin' : 'user';
      return { id: parts[0] ?? '', name: parts[1] ?? '', role, key: parts.slice(3).join(':') };
    });
  return {
    schema,
    allowed: 'id:name:role:key with role admin or user',
    placeholder: 'id:name:role:key',
    arity: 'one',
    fromWords: (words) => words[words.length - 1] ?? '',
    show: (value) => `${value.id}:${value.name}:${value.role}:***`,
    textual: true,
  };
}
const API_KEY = /^[^:]+:[^:]*:(admin|user):.+$/s;
