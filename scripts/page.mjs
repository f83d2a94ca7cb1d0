/** The page of the admin port, from `src/dashboard` into `dist/dashboard`: one script, one style sheet, no hash in a name. */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const root = fileURLToPath(new URL('../', import.meta.url));

const out = join(root, 'dist', 'dashboard');

await build({
  root: join(root, 'src', 'dashboard'),
  base: '/dashboard/',
  configFile: false,
  logLevel: 'warn',
  build: {
    outDir: out,
    emptyOutDir: true,
    target: 'es2023',
    cssCodeSplit: false,
    modulePreload: false,
    assetsInlineLimit: 0,
    rolldownOptions: { output: { entryFileNames: 'app.js', assetFileNames: 'app[extname]' } },
  },
});
// Its plots are part of the script.
copyFileSync(join(root, 'node_modules', 'uplot', 'LICENSE'), join(out, 'uplot-license.txt'));
