/** Protobuf messages by a table of their fields: any order, repeated, with what a newer version would add, and broken. */
import type { ByteSink } from '../lib/byte-sink.ts';
import type { Random } from '../lib/random.ts';

export interface Field {
  readonly number: number;
  /** A message by its own fields, texts to choose from, or numbers. */
  readonly of: Schema | readonly string[] | 'bytes' | 'number';
  /** How often in so many. */
  readonly odds?: number;
  readonly most?: number;
}
export type Schema = readonly Field[];

export class ProtoGrammar {
  readonly #sink: ByteSink;
  readonly #random: Random;
  readonly #faults: number;

  constructor(sink: ByteSink, random: Random) {
    this.#sink = sink;
    this.#random = random;
    this.#faults = random.once(3) ? 30 : 0;
  }

  message(schema: Schema, depth = 8): void {
    const random = this.#random;
    const offset = random.once(8) ? random.below(schema.length) : 0;
    for (let i = 0; i < schema.length; i++) {
      const field = schema[(i + offset) % schema.length]!;
      if (random.below(10) >= (field.odds ?? 7)) continue;
      for (
        let count = field.most === undefined ? (random.once(30) ? 2 : 1) : random.size(field.most);
        count > 0;
        count--
      ) {
        this.#field(field, depth);
      }
      if (random.once(12)) this.#unknown(schema);
      if (this.#faults > 0 && random.once(this.#faults)) this.#fault();
    }
  }

  #field({ number, of }: Field, depth: number): void {
    const random = this.#random;
    if (random.once(60)) {
      this.#unknownOf(number);
      return;
    }
    if (of === 'number') {
      this.#tag(number, 0);
      this.#varint(random.once(4) ? random.next() : random.below(3));
      return;
    }
    const start = this.#sink.length;
    if (typeof of === 'object' && typeof of[0] === 'object') {
      if (depth > 0) this.message(of as Schema, depth - 1);
    } else if (of === 'bytes') {
      for (let i = random.size(random.once(50) ? 4000 : 60); i > 0; i--) this.#sink.byte(random.below(256));
    } else {
      this.#sink.text(random.pick(of as readonly string[]));
      if (this.#faults > 0 && random.once(20)) this.#sink.byte(0xff);
    }
    const content = this.#sink.since(start);
    this.#sink.cutTo(start);
    this.#tag(number, 2);
    this.#varint(content.length + (this.#faults > 0 && random.once(200) ? random.pick([-1, 1, 5, 2 ** 31]) : 0));
    this.#sink.bytes(content);
  }

  #unknown(schema: Schema): void {
    const known = new Set(schema.map(({ number }) => number));
    const number = 1 + this.#random.size(this.#random.once(4) ? 2 ** 29 - 2 : 40);
    if (!known.has(number)) this.#unknownOf(number);
  }

  #unknownOf(number: number): void {
    const random = this.#random;
    const wire = random.pick([0, 1, 2, 5]);
    this.#tag(number, wire);
    if (wire === 0) this.#varint(random.once(2) ? random.next() * 2 ** 21 : random.below(200));
    else if (wire === 2) {
      const length = random.size(30);
      this.#varint(length);
      for (let i = 0; i < length; i++) this.#sink.byte(random.below(256));
    } else for (let i = 0; i < (wire === 1 ? 8 : 4); i++) this.#sink.byte(random.below(256));
  }

  #fault(): void {
    const random = this.#random;
    switch (random.below(5)) {
      case 0:
        this.#tag(1 + random.below(20), random.pick([3, 4, 6, 7]));
        return;
      case 1:
        this.#sink.byte(random.below(8));
        return;
      case 2:
        for (let i = random.size(12); i > 0; i--) this.#sink.byte(0x80 + random.below(128));
        return;
      case 3:
        this.#sink.byte(0x8a).byte(0x80).byte(0x00).byte(0);
        return;
      default:
        this.#sink.byte(random.below(256));
    }
  }

  #tag(number: number, wire: number): void {
    this.#varint(number * 8 + wire);
  }

  #varint(value: number): void {
    let rest = Math.max(0, value);
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#sink.byte((rest % 128) + 128);
    if (this.#random.once(80)) this.#sink.byte(rest + 128).byte(0);
    else this.#sink.byte(rest);
  }
}
