import type { DiscoveryObserver } from '../../src/discovery/source.ts';

/** An observer that keeps what it was told. */
export class DiscoveryLog implements DiscoveryObserver {
  readonly events: string[] = [];
  readonly problems: string[] = [];
  readonly turns: string[] = [];
  readonly notes: string[] = [];
  applications = 0;

  event(_source: string, event: string): void {
    this.events.push(event);
  }

  applied(): void {
    this.applications += 1;
  }

  failed(_source: string, problem: string): void {
    this.problems.push(problem);
  }

  turned(_source: string, health: string): void {
    this.turns.push(health);
  }

  noted(_source: string, subject: string, reason: string): void {
    this.notes.push(`${subject}: ${reason}`);
  }
}
