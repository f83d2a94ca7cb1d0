import type { CliCommand } from '../command.ts';
import { demoCommand } from './demo.ts';
import { envoyConfigCommand } from './envoy-config.ts';
import { serveCommand } from './serve.ts';
import { simCommand } from './sim.ts';
import { workersCommand } from './workers.ts';

/** In the order in which help lists them. */
export const COMMANDS: readonly CliCommand[] = [
  serveCommand,
  demoCommand,
  simCommand,
  envoyConfigCommand,
  workersCommand,
];
