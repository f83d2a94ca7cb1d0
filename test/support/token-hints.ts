/** Values of `x-smg-routing-tokens` that are no hint, whatever their length (sticky-sessions 1.5). */
export const NO_TOKEN_HINTS: readonly string[] = [
  '',
  ',',
  '1,,3',
  '1,2,',
  ',1',
  'a',
  '1,x,3',
  '-1',
  '+1',
  '1, 2',
  '1.5',
  '0x10',
  '4294967296',
  '999999999999999999999',
];
