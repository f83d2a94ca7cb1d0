/** What a queue needs of its elements: the links live in the element, so that leaving the middle costs nothing. */
export interface Queued<T> {
  previous: T | null;
  next: T | null;
}

/** Intrusive doubly linked queue. An element is in at most one queue at a time. */
export class PickQueue<T extends Queued<T>> {
  #head: T | null = null;
  #tail: T | null = null;
  #size = 0;

  get head(): T | null {
    return this.#head;
  }

  get size(): number {
    return this.#size;
  }

  append(element: T): void {
    element.previous = this.#tail;
    element.next = null;
    if (this.#tail === null) this.#head = element;
    else this.#tail.next = element;
    this.#tail = element;
    this.#size += 1;
  }

  remove(element: T): void {
    if (element.previous === null) this.#head = element.next;
    else element.previous.next = element.next;
    if (element.next === null) this.#tail = element.previous;
    else element.next.previous = element.previous;
    element.previous = null;
    element.next = null;
    this.#size -= 1;
  }
}
