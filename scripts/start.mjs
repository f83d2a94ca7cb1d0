/** `npm start`: everything the demo needs, then the demo, with the flags that are passed on. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureBuild, root } from './setup.mjs';

ensureBuild();
// In this process, so that a signal meets the demo and not somebody who would have to pass it on.
const program = join(root, 'bin', 'smg-envoy.js');
process.argv = [process.execPath, program, 'demo', ...process.argv.slice(2)];
await import(pathToFileURL(program).href);
