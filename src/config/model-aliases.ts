/** What is wrong with a list of `alias=model`, null when nothing is: one name is resolved once, to one model (policies 2.4). */
export function aliasProblem(items: readonly string[]): string | null {
  const models = new Map<string, string>();
  for (const item of items) {
    const at = item.indexOf('=');
    const alias = item.slice(0, at);
    if (models.has(alias)) return `the alias ${alias} stands twice`;
    models.set(alias, item.slice(at + 1));
  }
  for (const [alias, model] of models) {
    if (models.has(model)) return `the alias ${alias} stands for ${model}, which is an alias itself`;
  }
  return null;
}
