/** The metrics of a service, as its admin port prints them. */
export async function metricsOf(admin) {
  const text = await (await fetch(`http://${admin}/metrics`)).text();
  return new Metrics(text.split('\n').filter((line) => line !== '' && !line.startsWith('#')));
}

class Metrics {
  #lines;

  constructor(lines) {
    this.#lines = lines;
  }

  /** Sum of the samples of a name whose labels include a text; 0 without any. */
  sum(name, labels = '') {
    let total = 0;
    for (const line of this.#lines) {
      if ((line.startsWith(`${name} `) || line.startsWith(`${name}{`)) && line.includes(labels)) {
        total += Number(line.slice(line.lastIndexOf(' ')));
      }
    }
    return total;
  }

  /** Requests that were placed. */
  get placed() {
    return this.sum('smg_router_requests_total', 'endpoint="chat"');
  }

  /** Samples of a name by their labels, those that are not 0. */
  each(name) {
    const samples = {};
    for (const line of this.#lines) {
      if (!line.startsWith(`${name}{`)) continue;
      const value = Number(line.slice(line.lastIndexOf(' ')));
      if (value !== 0) samples[line.slice(name.length + 1, line.lastIndexOf('}'))] = value;
    }
    return samples;
  }
}
