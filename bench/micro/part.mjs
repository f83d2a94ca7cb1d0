/** One part of bench/micro.mjs, for its parent: `part.mjs NAME SETTINGS-AS-JSON`. */
import { PARTS } from './parts.mjs';

const [name, settings] = process.argv.slice(2);
process.send(await PARTS[name](JSON.parse(settings)), () => process.disconnect());
