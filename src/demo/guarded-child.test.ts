import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { startGuarded } from './guarded-child.ts';

const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** Starts a long-running child that tells its process id. */
async function sleeper(script = 'echo $$; exec sleep 600') {
  let text = '';
  const child = await startGuarded(['sh', '-c', script], (more) => {
    text += more;
  });
  await expect.poll(() => text).toMatch(/^\d+\n$/);
  return { child, pid: Number(text) };
}

describe('a guarded child', () => {
  it('stops when it is told to', async () => {
    const { child, pid } = await sleeper();
    expect(alive(pid)).toBe(true);
    await child.stop();
    expect(alive(pid)).toBe(false);
  });

  it('reports its exit code and output', async () => {
    let text = '';
    const child = await startGuarded(['sh', '-c', 'echo out; echo err >&2; exit 7'], (more) => {
      text += more;
    });
    expect(await child.ended).toBe(7);
    await expect.poll(() => text.split('\n').sort().join(' ')).toBe(' err out');
  });

  it('says what cannot be started', async () => {
    const child = await startGuarded(['/nowhere/envoy'], () => undefined);
    expect(await child.ended).toBe(127);
  });

  it('does not outlive its parent, even when that is killed', async () => {
    const runner = new URL('../../node_modules/vite/dist/node/index.js', import.meta.url).href;
    const module = new URL('guarded-child.ts', import.meta.url).pathname;
    const entry = `
      const { runnerImport } = await import(${JSON.stringify(runner)});
      const { module } = await runnerImport(${JSON.stringify(module)}, { configFile: false });
      await module.startGuarded(['sh', '-c', 'echo $$; exec sleep 600'], (text) => process.stdout.write(text));
      setInterval(() => {}, 1000);
    `;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', entry], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    parent.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    await expect.poll(() => text, { timeout: 10_000 }).toMatch(/^\d+\n$/);

    parent.kill('SIGKILL');

    await expect.poll(() => alive(Number(text)), { timeout: 5000 }).toBe(false);
  });
});
