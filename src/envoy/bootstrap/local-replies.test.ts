// biome-ignore-all lint/suspicious/noExplicitAny: parsed configuration has no types
import { describe, expect, it } from 'vitest';
import { rendered } from './fixture.suite.ts';

describe('envoy 10.7 local replies', () => {
  const { mappers } = rendered().manager.local_reply_config;

  it('each is the error envelope with its code', () => {
    for (const mapper of mappers) {
      const { error } = JSON.parse(mapper.body_format_override.text_format_source.inline_string);
      const header = mapper.headers_to_add[0];
      expect(header).toMatchObject({ header: { key: 'x-smg-error-code', value: error.code } });
      expect(header.append_action).toBe('OVERWRITE_IF_EXISTS_OR_ADD');
      expect(Object.keys(error)).toEqual(['type', 'code', 'message', 'param']);
      expect(mapper.body_format_override.content_type).toBe('application/json');
    }
  });

  it.each([
    [['UH', 'UO', 'NC'], 'no_available_workers'],
    [['UF'], 'call_upstream_connection_failed'],
    [['UC', 'UR', 'LR'], 'call_upstream_request_error'],
    [['UPE'], 'call_upstream_request_error'],
    [['UT'], 'call_upstream_timeout'],
    [['NR'], 'route_not_found'],
  ])('flags %j: %s', (flags, code) => {
    const mapper = mappers.find((each: any) => each.filter.response_flag_filter?.flags.includes(flags[0]));
    expect(mapper.filter.response_flag_filter.flags).toEqual(flags);
    expect(mapper.headers_to_add[0].header.value).toBe(code);
  });

  it('T75, T76: no status alone decides, no text can hold internals', () => {
    expect(rendered().manager.local_reply_config.body_format).toBeUndefined();
    for (const mapper of mappers) {
      expect(Object.keys(mapper.filter)).not.toContain('status_code_filter');
      expect(mapper.body_format_override.text_format_source.inline_string).not.toContain('%');
    }
  });
});
