import type { Row } from '../trap-rows.suite.ts';

export const LOCAL_REPLY_ROWS: readonly Row[] = [
  [
    'T75',
    'a body_format for all',
    ({ manager }) => (manager.local_reply_config.body_format = { text_format_source: { inline_string: 'sorry' } }),
  ],
  [
    'T75',
    'a mapper by status',
    ({ manager }) => {
      const comparison = { op: 'GE', value: { default_value: 500, runtime_key: 'k' } };
      manager.local_reply_config.mappers.push({ filter: { status_code_filter: { comparison } }, status_code: 500 });
    },
  ],
  [
    '',
    'a mapper by a status that is never ours',
    ({ manager }) => {
      const comparison = { op: 'EQ', value: { default_value: 431, runtime_key: 'k' } };
      manager.local_reply_config.mappers.push({ filter: { status_code_filter: { comparison } } });
    },
  ],
  ...['%RESPONSE_CODE_DETAILS%', '%LOCAL_REPLY_BODY%'].map(
    (text): Row => [
      'T76',
      text,
      ({ manager }) => {
        const [mapper] = manager.local_reply_config.mappers;
        mapper.body_format_override = { json_format: { error: { message: text } } };
      },
    ],
  ),
];
