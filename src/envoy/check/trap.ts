import type { CheckSettings } from './check-settings.ts';
import type { ConfigNode } from './config-node.ts';
import type { Subject } from './subject/subject.ts';
import type { Place } from './tree.ts';

/** An error breaks requests or sends them astray, a warning does so sometimes, a note is good to know. */
export type Level = 'error' | 'warning' | 'note';

/** One way in which a configuration of Envoy goes wrong with the service (envoy 19). */
export interface Trap {
  /** `T1` to `T85`. */
  readonly id: `T${number}`;
  readonly level: Level;
  /** What makes the level another one. */
  readonly levelBy?: string;
  /** Envoy refuses such a file by itself. */
  readonly refused?: boolean;
  readonly title: string;
  readonly consequence: string;
  /** Lines to write, as YAML; what is to go stands in a comment. */
  readonly cure: string;
  /** What the lines are members of. */
  readonly into: string;
  /** When it is not reported although one could think so, and the like. */
  readonly remark?: string;
  /** The places where the configuration has it. */
  find(subject: Subject, settings: CheckSettings): Iterable<Flaw>;
}

/** One place of a trap; what is not given is the trap's own. */
export interface Flaw {
  readonly at: ConfigNode;
  /** What is found there, to stand behind the title. */
  readonly found?: string;
  readonly level?: Level;
  readonly cure?: string;
  readonly into?: string;
}

export interface Finding {
  readonly trap: Trap['id'];
  readonly level: Level;
  readonly place: Place;
  readonly message: string;
  readonly consequence: string;
  readonly cure: string;
  readonly into: string;
}
