import type { Random } from './random.ts';

/** Something that is fuzzed. An input is bytes, whatever it stands for, so that any can be changed, kept and played again. */
export interface Target {
  readonly name: string;
  /** Where the code under test lies; its branches guide the choice of inputs. */
  readonly sources: readonly string[];
  /** Pieces that changed inputs are given now and then. */
  readonly tokens: readonly Uint8Array[];
  /** An input is a finding when it takes longer than this, three times in a row. */
  readonly slowMs: number;
  /** A new input by the rules of the format, mostly valid. */
  generate(random: Random): Buffer;
  /** Throws when something that must hold does not. */
  check(input: Buffer): void | Promise<void>;
  /** An input for a reader, beside its bytes. */
  show?(input: Buffer): Promise<string>;
  /** What it counted of inputs, to show that they reach what they are meant for. */
  counts?(): Readonly<Record<string, number>>;
  /** Lets go of what it opened. */
  close?(): Promise<void>;
}
