type Child = Node | string | null;

interface Props {
  readonly class?: string;
  readonly text?: string;
  readonly attrs?: Readonly<Record<string, string>>;
  readonly onClick?: (event: MouseEvent) => void;
}

/** An element with its children; text is always text, never markup. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  if (props.class !== undefined) made.className = props.class;
  if (props.text !== undefined) made.textContent = props.text;
  for (const [name, value] of Object.entries(props.attrs ?? {})) made.setAttribute(name, value);
  if (props.onClick !== undefined) made.addEventListener('click', props.onClick as EventListener);
  made.append(...children.filter((child) => child !== null));
  return made;
}

/** The element of that id in the page. @throws Error where the page has none, or another one */
export function byId<K extends keyof HTMLElementTagNameMap>(id: string, tag: K): HTMLElementTagNameMap[K] {
  const found = document.getElementById(id);
  if (found === null || found.localName !== tag) throw new Error(`the page has no ${tag} #${id}`);
  return found as HTMLElementTagNameMap[K]; // its name was compared
}

/** Writes only what changed, so that what is selected stays so. */
export function setText(node: Node, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

export function badge(kind: string, text: string): HTMLSpanElement {
  return el('span', { class: `badge ${kind}`, text });
}

/** Says something once, to eyes and to screen readers. */
export function toast(text: string, kind: 'ok' | 'bad' = 'ok'): void {
  const place = byId('toast', 'div');
  const note = el('p', { class: `toast ${kind}`, text });
  place.replaceChildren(note);
  setTimeout(() => note.remove(), 8000);
}

/** Opens a dialog that its buttons `[data-close]` and the Escape key end. */
export function openDialog(dialog: HTMLDialogElement): void {
  if (!dialog.open) dialog.showModal();
}

export function closable(dialog: HTMLDialogElement): void {
  for (const button of dialog.querySelectorAll('[data-close]')) button.addEventListener('click', () => dialog.close());
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close();
  });
}
