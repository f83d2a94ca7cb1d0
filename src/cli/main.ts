import { setFlagsFromString } from 'node:v8';

// What loading modules leaves behind makes V8 double the space for young objects until it is 10 MB larger, and it stays so
// in a service that nobody asks. While modules load it may not grow; afterwards it does, as the load asks for it.
setFlagsFromString('--semi-space-growth-factor=1');
const [{ COMMANDS }, { runProgram }] = await Promise.all([import('./commands/all.ts'), import('./program.ts')]);
setFlagsFromString('--semi-space-growth-factor=2');

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
