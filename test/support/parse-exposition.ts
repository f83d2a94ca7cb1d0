/** A reader of the Prometheus text format, written from its grammar and sharing nothing with our writer. */

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Exposition {
  readonly help: Map<string, string>;
  readonly type: Map<string, string>;
  readonly samples: Sample[];
}

/** Throws on a line that the grammar does not allow. */
export function parseExposition(text: string): Exposition {
  const exposition: Exposition = { help: new Map(), type: new Map(), samples: [] };
  if (text !== '' && !text.endsWith('\n')) throw new Error('the last line is not ended');
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const comment = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/su.exec(line);
    if (comment?.[1] === 'HELP') exposition.help.set(comment[2] ?? '', unescaped(comment[3] ?? ''));
    else if (comment?.[1] === 'TYPE') exposition.type.set(comment[2] ?? '', comment[3] ?? '');
    else if (!line.startsWith('#')) exposition.samples.push(parseSample(line));
    else throw new Error(`not a comment of the format: ${line}`);
  }
  return exposition;
}

function parseSample(line: string): Sample {
  let at = line.search(/[^a-zA-Z0-9_:]/u);
  const name = line.slice(0, at);
  if (!/^[a-zA-Z_:]/u.test(name)) throw new Error(`no metric name: ${line}`);
  const labels: Record<string, string> = {};
  if (line[at] === '{') {
    at++;
    while (line[at] !== '}') {
      const equals = line.indexOf('="', at);
      const labelName = line.slice(at, equals);
      if (!/^[a-zA-Z_][a-zA-Z0-9_]*$/u.test(labelName)) throw new Error(`no label name at ${at}: ${line}`);
      if (labelName in labels) throw new Error(`label twice: ${line}`);
      let end = equals + 2;
      while (line[end] !== '"') {
        if (end >= line.length) throw new Error(`open label value: ${line}`);
        end += line[end] === '\\' ? 2 : 1;
      }
      labels[labelName] = unescaped(line.slice(equals + 2, end));
      at = end + 1;
      if (line[at] === ',') at++;
      else if (line[at] !== '}') throw new Error(`no end of label at ${at}: ${line}`);
    }
    at++;
  }
  if (line[at] !== ' ') throw new Error(`no blank before the value: ${line}`);
  return { name, labels, value: parseValue(line.slice(at + 1)) };
}

function parseValue(text: string): number {
  // As Go's ParseFloat takes them: special values in any case.
  if (/^\+?inf$/iu.test(text)) return Number.POSITIVE_INFINITY;
  if (/^-inf$/iu.test(text)) return Number.NEGATIVE_INFINITY;
  if (/^nan$/iu.test(text)) return Number.NaN;
  if (!/^-?[0-9.]+(e[+-]?[0-9]+)?$/u.test(text)) throw new Error(`not a value: ${text}`);
  return Number(text);
}

function unescaped(text: string): string {
  let out = '';
  for (let i = 0; i < text.length; i++) {
    if (text[i] !== '\\') out += text[i];
    else {
      i++;
      out += text[i] === 'n' ? '\n' : text[i];
    }
  }
  return out;
}
