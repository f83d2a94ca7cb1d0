import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { headOf } from '../../test/support/head.ts';
import { AGENT_HEADERS, agentKey } from './agent-headers.ts';

function key(...headers: (readonly [string, string | Uint8Array])[]): string | null {
  return agentKey(headOf({ headers }));
}

describe('field-lessons R32 headers of coding tools', () => {
  it.each([
    { tool: 'Claude Code', headers: { 'X-Claude-Code-Session-Id': 's1' }, want: 's1' },
    {
      tool: 'a subagent of Claude Code',
      headers: { 'X-Claude-Code-Session-Id': 's1', 'X-Claude-Code-Agent-Id': 'a7' },
      want: 's1/a7',
    },
    { tool: 'Codex CLI', headers: { 'session-id': 's1', 'thread-id': 't1' }, want: 't1' },
    { tool: 'Codex CLI until 0.130', headers: { session_id: 's1', thread_id: 't1' }, want: 't1' },
    { tool: 'older Codex CLI', headers: { conversation_id: 's1', session_id: 's1' }, want: 's1' },
    { tool: 'OpenCode', headers: { 'x-session-affinity': 'ses_1', 'X-Session-Id': 'ses_1' }, want: 'ses_1' },
    { tool: 'OpenCode as opencode', headers: { 'x-opencode-session': 'ses_1' }, want: 'ses_1' },
    { tool: 'Mistral Vibe', headers: { 'x-affinity': 'v1' }, want: 'v1' },
    { tool: 'another tool', headers: { 'user-agent': 'curl/8', 'x-claude-code-agent-id': 'a7' }, want: null },
  ])('$tool: $want', ({ headers, want }) => {
    expect(key(...Object.entries(headers))).toBe(want);
  });

  it('goes on to the next header where one cannot be read', () => {
    expect(key(['x-claude-code-session-id', ''], ['x-session-id', 's'])).toBe('s');
    expect(key(['x-claude-code-session-id', 'k'.repeat(129)], ['thread-id', 't'])).toBe('t');
    expect(key(['x-claude-code-session-id', ''], ['x-claude-code-agent-id', 'a'])).toBeNull();
  });

  it('leaves a subagent with its session where both do not fit, or its name cannot be read', () => {
    const session = ['x-claude-code-session-id', 's'.repeat(100)] as const;

    expect(key(session, ['x-claude-code-agent-id', 'a'.repeat(27)])).toBe(`${'s'.repeat(100)}/${'a'.repeat(27)}`);
    expect(key(session, ['x-claude-code-agent-id', 'a'.repeat(28)])).toBe('s'.repeat(100));
    expect(key(session, ['x-claude-code-agent-id', Buffer.from([0xff])])).toBe('s'.repeat(100));
    expect(key(session, ['x-claude-code-agent-id', ''])).toBe('s'.repeat(100));
  });

  it('stands in the guide in the order in which it is read', () => {
    const guide = readFileSync(new URL('../../docs/guides/sticky-sessions.md', import.meta.url), 'utf8');
    const section = guide.slice(guide.indexOf('### Headers of coding tools'), guide.indexOf('### Lineage'));
    const rows = [...section.matchAll(/^\| \d \|(.*)$/gm)].map(([, row = '']) => row.split('|')[0] ?? '');
    const named = rows.flatMap((cell) => [...cell.matchAll(/`([a-z_-]+)`/g)].map(([, name]) => name));

    expect(named).toEqual(AGENT_HEADERS);
  });
});
