/** `npm run build`: `dist/` from `src/`. */
import { build } from './setup.mjs';

build();
