import { ApiError, ask } from './api.ts';
import { byId, el } from './dom.ts';
import { explanationOf } from './explanation.ts';
import type { Explanation } from './shapes.ts';

/** Where a request would go, by a dry run. */
export class ExplainView {
  readonly #form = byId('explain-form', 'form');
  readonly #result = byId('explain-result', 'div');

  constructor() {
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#explain();
    });
  }

  /** Asks for a request with that key. */
  fill(key: string): void {
    this.#field('headers').value = `x-smg-routing-key: ${key}`;
    this.#form.scrollIntoView({ block: 'center' });
    this.#field('headers').focus({ preventScroll: true });
    void this.#explain();
  }

  #field(name: string): HTMLInputElement | HTMLTextAreaElement {
    return this.#form.elements.namedItem(name) as HTMLInputElement | HTMLTextAreaElement; // as index.html has it
  }

  async #explain(): Promise<void> {
    const headers = headersOf(this.#field('headers').value);
    if (typeof headers === 'string') {
      this.#result.replaceChildren(el('p', { class: 'bad', text: headers }));
      return;
    }
    const { value } = this.#field('body');
    const body = value.trim() === '' ? {} : { body: value };
    try {
      const asked = { method: this.#field('method').value, path: this.#field('path').value, headers, ...body };
      const answer = await ask<Explanation>('/explain', { method: 'POST', body: asked });
      this.#result.replaceChildren(...explanationOf(answer));
    } catch (error) {
      const text = error instanceof ApiError ? error.message : String(error);
      this.#result.replaceChildren(el('p', { class: 'bad', text }));
    }
  }
}

/** Or what is wrong with them. */
function headersOf(text: string): Record<string, string[]> | string {
  const headers: Record<string, string[]> = {};
  for (const line of text.split('\n').filter((each) => each.trim() !== '')) {
    const colon = line.indexOf(':');
    if (colon < 1) return `“${line}” is no header: expected name: value`;
    const name = line.slice(0, colon).trim().toLowerCase();
    headers[name] = [...(headers[name] ?? []), line.slice(colon + 1).trim()];
  }
  return headers;
}
