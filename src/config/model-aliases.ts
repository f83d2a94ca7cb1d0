/** The two sides of `alias=model`, two different names; null for anything else. */
export function aliasAndModel(text: string): readonly [alias: string, model: string] | null {
  const at = text.indexOf('=');
  const alias = text.slice(0, Math.max(at, 0));
  const model = text.slice(at + 1);
  return alias === '' || model === '' || alias === model ? null : [alias, model];
}

/** Models by alias. Text that is none is left out: the settings refuse it. */
export function modelAliases(items: readonly string[]): ReadonlyMap<string, string> {
  return new Map(items.map(aliasAndModel).filter((pair) => pair !== null));
}

/** What is wrong with a list of `alias=model`, null when nothing is: one name is resolved once, to one model (policies 2.4). */
export function aliasProblem(items: readonly string[]): string | null {
  const models = new Map<string, string>();
  for (const pair of items.map(aliasAndModel)) {
    if (pair === null) continue;
    const [alias, model] = pair;
    if (models.has(alias)) return `the alias ${alias} stands twice`;
    models.set(alias, model);
  }
  for (const [alias, model] of models) {
    if (models.has(model)) return `the alias ${alias} stands for ${model}, which is an alias itself`;
  }
  return null;
}
