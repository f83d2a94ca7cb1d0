/** Far above any pod: the API server takes objects of up to some 1.5 MiB. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;

/** Takes a stream of bytes apart into JSON values, one a line, as a watch sends them. */
export class JsonLines {
  #parts: Buffer[] = [];
  #bytes = 0;

  /**
   * The values that `chunk` completes.
   *
   * @throws Error for a line that is no JSON, or too long
   */
  push(chunk: Buffer): unknown[] {
    const values: unknown[] = [];
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      this.#parts.push(chunk.subarray(from, end));
      const line = Buffer.concat(this.#parts).toString('utf8').trim();
      this.#parts = [];
      this.#bytes = 0;
      from = end + 1;
      if (line !== '') values.push(JSON.parse(line));
    }
    if (from < chunk.length) {
      this.#parts.push(chunk.subarray(from));
      this.#bytes += chunk.length - from;
      if (this.#bytes > MAX_LINE_BYTES) throw new Error('a line of the watch is too long');
    }
    return values;
  }
}
