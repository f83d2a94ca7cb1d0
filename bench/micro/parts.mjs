/** The parts of bench/micro.mjs. Each is loaded and run in a process of its own. */

/** Settings of the command by name; each part takes those it knows. */
export const SETTINGS = {
  rounds: 9,
  /** Length of a round of one case. */
  ms: 40,
  starts: 5,
  /** Decisions a second of the paced part, and for how long each policy. */
  rate: 10_000,
  seconds: 5,
};

const casesOf = (file, name) => async (settings) => {
  const [{ measure }, cases] = await Promise.all([import('./measure.mjs'), import(file)]);
  return measure(cases[name](), settings);
};
const measured = (file, name) => async (settings) => (await import(file))[name](settings);

export const PARTS = {
  decisions: casesOf('./decisions.mjs', 'decisionCases'),
  protocols: measured('./protocols.mjs', 'measureProtocols'),
  policies: measured('./policies.mjs', 'measurePolicies'),
  paced: measured('./paced.mjs', 'measurePaced'),
  prompts: measured('./prompts.mjs', 'measurePrompts'),
  scan: casesOf('./scan.mjs', 'scanCases'),
  hpack: casesOf('./hpack.mjs', 'hpackCases'),
  'prompt-text': casesOf('./prompt-text.mjs', 'promptTextCases'),
  snapshot: casesOf('./fleet.mjs', 'snapshotCases'),
  ledger: casesOf('./fleet.mjs', 'ledgerCases'),
  process: measured('./process.mjs', 'measureProcess'),
  pins: measured('./pins.mjs', 'measurePins'),
  trees: measured('./trees.mjs', 'measureTrees'),
  index: measured('./index.mjs', 'measureIndex'),
  pauses: measured('./pauses.mjs', 'measurePauses'),
};
