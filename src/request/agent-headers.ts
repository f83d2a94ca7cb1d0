/** Where coding tools name their conversation of their own accord (field-lessons R32). Hot path. */
import { MAX_KEY_BYTES, readHint } from './header-readers.ts';
import type { RequestHead } from './request-head.ts';
import { headerKey } from './routing-key.ts';

/** Claude Code from 2.1.86 on: one for a session, its subagents included. */
const CLAUDE_SESSION = 'x-claude-code-session-id';
/** Claude Code from 2.1.139 on, of a subagent. A team gives names here, so it is unique within its session only. */
const CLAUDE_AGENT = 'x-claude-code-agent-id';

/** Where a tool tells the agents of a session apart, the agent comes first: each has a prompt of its own. */
const OTHERS: readonly string[] = [
  // Codex CLI, with hyphens from 0.131 on. Its subagents share a session and have threads of their own.
  'thread-id',
  'thread_id',
  // Codex CLI without threads, pi.
  'session-id',
  'session_id',
  // OpenCode, Kilo Code, Crush and pi; the first one where the provider is called opencode.
  'x-opencode-session',
  'x-session-affinity',
  'x-session-id',
  // Mistral Vibe.
  'x-affinity',
];

/** The headers in the order in which they are looked at, in lower case. */
export const AGENT_HEADERS: readonly string[] = [CLAUDE_SESSION, ...OTHERS];

/**
 * The raw key of the first of `AGENT_HEADERS` that R-HINT accepts, null for none. A subagent of Claude Code has a key of its
 * own, unless that would be too long.
 */
export function agentKey(head: RequestHead): string | null {
  const value = head.first(CLAUDE_SESSION);
  const session = value === undefined ? null : readHint(value);
  if (value === undefined || session === null) return headerKey(head, OTHERS);
  const agent = head.first(CLAUDE_AGENT);
  if (agent === undefined || value.length + 1 + agent.length > MAX_KEY_BYTES) return session;
  const name = readHint(agent);
  return name === null ? session : `${session}/${name}`;
}
