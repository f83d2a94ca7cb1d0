/** Another commit, built in a folder of its own. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, say } from '../../scripts/setup.mjs';

/**
 * A worktree of a commit with its packages and its build. `remove` takes it away.
 *
 * @param name anything that git takes for a commit
 */
export function checkOut(name) {
  const commit = git('rev-parse', '--verify', '--short', `${name}^{commit}`);
  const parent = mkdtempSync(join(tmpdir(), 'smg-envoy-base-'));
  const folder = join(parent, 'checkout');
  const remove = () => {
    spawnSync('git', ['worktree', 'remove', '--force', folder], { cwd: root, stdio: 'ignore' });
    rmSync(parent, { recursive: true, force: true });
    spawnSync('git', ['worktree', 'prune'], { cwd: root, stdio: 'ignore' });
  };
  try {
    git('worktree', 'add', '--detach', folder, commit);
    say(`installing packages of ${commit} …`);
    run(folder, 'npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']);
    say(`building ${commit} …`);
    run(folder, process.execPath, [join('scripts', 'build.mjs')]);
  } catch (error) {
    remove();
    throw error;
  }
  return { commit, folder, remove };
}

function git(...args) {
  const done = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`git ${args.join(' ')}: ${done.stderr.trim()}`);
  return done.stdout.trim();
}

function run(cwd, command, args) {
  const done = spawnSync(command, args, { cwd, stdio: ['ignore', 2, 2] });
  if (done.status !== 0) throw new Error(`${command} ${args.join(' ')} failed in the checkout of the base`);
}
