import { checkCommand } from './commands/check.ts';
import { conformanceCommand } from './commands/conformance.ts';
import { demoCommand } from './commands/demo.ts';
import { envoyConfigCommand } from './commands/envoy-config.ts';
import { explainCommand } from './commands/explain.ts';
import { pinsCommand } from './commands/pins.ts';
import { serveCommand } from './commands/serve.ts';
import { simCommand } from './commands/sim.ts';
import { workersCommand } from './commands/workers.ts';
import { runProgram } from './program.ts';

const COMMANDS = [
  serveCommand,
  demoCommand,
  simCommand,
  envoyConfigCommand,
  checkCommand,
  workersCommand,
  pinsCommand,
  explainCommand,
  conformanceCommand,
];

// A reader that went away (`smg-envoy … | head`) is no failure of ours.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

const code = await runProgram(COMMANDS, process.argv.slice(2), {
  env: process.env,
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
});

// Both streams may still hold text when they are pipes.
await Promise.all([process.stdout, process.stderr].map((stream) => new Promise((done) => stream.write('', done))));
process.exit(code);
