const owned = new Set();
process.once('exit', () => {
  for (const child of owned) child.kill('SIGKILL');
});

/** Makes sure that a child does not outlive this process. */
export function own(child) {
  owned.add(child);
  child.once('exit', () => owned.delete(child));
  return child;
}
