import { keepToken, token } from './api.ts';
import { byId, closable, openDialog, setText } from './dom.ts';
import type { Overview } from './shapes.ts';

/** Who looks, and as whom. */
export class Session {
  readonly #button = byId('access', 'button');
  readonly #dialog = byId('access-dialog', 'dialog');
  readonly #input = byId('access-token', 'input');
  readonly #error = byId('access-error', 'p');
  readonly #changed: () => void;
  #asked = false;
  #mayChange = false;

  /** @param changed another key is used from now on, or none */
  constructor(changed: () => void) {
    this.#changed = changed;
    closable(this.#dialog);
    this.#button.addEventListener('click', () => (token() === '' ? this.#open() : this.#signOut()));
    byId('access-form', 'form').addEventListener('submit', () => {
      keepToken(this.#input.value.trim());
      this.#input.value = '';
      this.#asked = false;
      this.#changed();
    });
  }

  /** Buttons that change something make sense. */
  get mayChange(): boolean {
    return this.#mayChange;
  }

  accepted({ keys_needed: needed, caller }: Overview): void {
    this.#mayChange = !needed || caller?.role === 'admin';
    this.#button.hidden = !needed;
    setText(this.#button, `Sign out ${caller?.id ?? ''}`.trim());
    setText(this.#error, '');
  }

  /** The key, or the lack of one, was not accepted. Asks for another once. */
  refused(message: string): void {
    this.#mayChange = false;
    this.#button.hidden = false;
    if (token() !== '') setText(this.#error, `That key was not accepted: ${message}`);
    keepToken('');
    setText(this.#button, 'Sign in');
    if (!this.#asked) this.#open();
  }

  #open(): void {
    this.#asked = true;
    openDialog(this.#dialog);
    this.#input.focus();
  }

  #signOut(): void {
    keepToken('');
    this.#asked = true;
    this.#changed();
  }
}
