import { HeaderMap } from '../../gen/envoy/config/core/v3/base.ts';
import { HeaderSpans } from '../wire/header-spans.ts';
import { HeadView } from './head-view.ts';

export interface HeaderEntry {
  readonly key: string;
  readonly value?: string;
  readonly rawValue?: Buffer;
}

/** The head of a message with these headers, for tests: they pass through their bytes. */
export function headOf(headers: readonly HeaderEntry[], endOfStream = false): HeadView {
  const bytes = Buffer.from(HeaderMap.encode({ headers: [...headers] }).finish());
  const spans = new HeaderSpans(bytes);
  if (!spans.addMap(0, bytes.length)) throw new Error('the generated code wrote no map of headers');
  return new HeadView(spans, endOfStream);
}
