import { badge, byId, el, setText } from './dom.ts';
import type { Overview, Series, Warning } from './shapes.ts';
import { count, rate, spaced } from './words.ts';

interface Tile {
  readonly name: string;
  readonly value: string;
  readonly more: string;
  readonly kind: '' | 'bad' | 'look';
}

const SOURCES: Readonly<Record<string, string>> = {
  access_log: 'told by the access log',
  stream: 'told by response streams',
  age: 'nobody tells them: guessed by age',
};

/** The head of the page, what needs attention, the numbers at a glance, and the Envoys. */
export class OverviewView {
  readonly #tiles = byId('tiles', 'dl');
  #drawn = '';

  show(overview: Overview, series: Series | null): void {
    const { version, status, reason, warnings } = overview;
    setText(byId('version', 'span'), version);
    const ready = byId('ready', 'span');
    setText(ready, status === 'ready' ? 'Ready' : `Not ready: ${spaced(reason ?? '')}`);
    ready.className = `badge ${status === 'ready' ? 'ok' : 'bad'}`;
    byId('tenant-field', 'label').hidden = !overview.tenants;
    this.#showTiles(tilesOf(overview, series));
    this.#showOnce(`${JSON.stringify(warnings)}${JSON.stringify(overview.envoy)}`, () => {
      byId('attention', 'section').hidden = warnings.length === 0;
      byId('warnings', 'ul').replaceChildren(...warnings.map(warningItem));
      byId('envoy-facts', 'div').replaceChildren(...envoyFacts(overview.envoy));
    });
    const since = new Date(overview.started_at).toLocaleString('en', { dateStyle: 'medium', timeStyle: 'short' });
    setText(byId('footer', 'footer'), `Up since ${since}. Traffic is of this replica alone.`);
  }

  #showOnce(state: string, draw: () => void): void {
    if (state === this.#drawn) return;
    this.#drawn = state;
    draw();
  }

  #showTiles(tiles: readonly Tile[]): void {
    while (this.#tiles.children.length < tiles.length)
      this.#tiles.append(el('div', {}, el('dt'), el('dd', { class: 'value' }), el('dd', { class: 'more' })));
    tiles.forEach(({ name, value, more, kind }, i) => {
      const tile = this.#tiles.children[i];
      if (tile === undefined) return;
      tile.className = kind;
      for (const [j, text] of [name, value, more].entries()) setText(tile.children[j] ?? tile, text);
    });
  }
}

function tilesOf({ workers, pins, envoy, recent }: Overview, series: Series | null): readonly Tile[] {
  const { eds, connections } = envoy;
  const behind = eds.clients.filter(({ current }) => !current).length;
  const latest = (name: string): number => series?.rates[name]?.at(-1) ?? 0;
  const [all, held] = [latest('decisions'), latest('occupied_hit')];
  const out = workers.total - workers.ready - workers.draining;
  const lists =
    eds.clients.length === 0
      ? 'takes no workers from here'
      : behind === 0
        ? `all have list ${eds.version}`
        : `${behind} behind list ${eds.version}`;
  return [
    {
      name: 'Envoy',
      value: connections === 0 ? 'Not connected' : 'Connected',
      more: connections === 0 ? 'nobody asks this service' : `${counted(connections, 'connection')}, ${lists}`,
      kind: connections === 0 ? 'bad' : behind > 0 ? 'look' : '',
    },
    {
      name: 'Workers ready',
      value: `${count(workers.ready)} of ${count(workers.total)}`,
      more:
        [workers.draining > 0 ? `${count(workers.draining)} draining` : '', out > 0 ? `${count(out)} out` : '']
          .filter((part) => part !== '')
          .join(', ') || (workers.total === 0 ? 'none is registered' : 'all in service'),
      kind: workers.ready === 0 ? 'bad' : out > 0 ? 'look' : '',
    },
    {
      name: 'Decisions per second',
      value: rate(all),
      more: all === 0 ? 'no traffic now' : `${Math.round((100 * held) / all)} % held by their pin`,
      kind: '',
    },
    {
      name: 'In flight',
      value: count(workers.in_flight),
      more:
        envoy.end_of_request_source === 'age'
          ? 'ends are guessed by age'
          : `ends ${SOURCES[envoy.end_of_request_source] ?? ''}`,
      kind: '',
    },
    {
      name: 'Pinned keys',
      value: count(pins.total),
      more: pins.store === 'memory' ? 'in this process' : `shared, Redis ${pins.state ?? ''}`,
      kind: pins.state === 'down' ? 'bad' : pins.state === 'slow' ? 'look' : '',
    },
    {
      name: 'Refused in 15 minutes',
      value: count(recent.refused),
      more:
        recent.decisions === 0
          ? 'no request yet'
          : recent.passed === 0
            ? 'all others got a pick'
            : `${count(recent.passed)} went on without a pick`,
      kind: recent.passed > 0 ? 'bad' : '',
    },
  ];
}

function counted(value: number, what: string): string {
  return `${count(value)} ${what}${value === 1 ? '' : 's'}`;
}

function warningItem({ level, title, text }: Warning): HTMLLIElement {
  return el(
    'li',
    { class: level },
    badge(level === 'bad' ? 'bad' : 'wait', level === 'bad' ? 'Trouble' : 'Look'),
    el('div', {}, el('strong', { text: title }), el('p', { text })),
  );
}

function envoyFacts({
  connections,
  open_calls: calls,
  log_streams: logs,
  end_of_request_source: source,
  eds,
}: Overview['envoy']): readonly HTMLElement[] {
  const facts: readonly (readonly [string, string])[] = [
    ['Connections', connections === 0 ? 'none' : `${count(connections)}, with ${counted(calls, 'open call')}`],
    ['Access log', logs === 0 ? 'no stream is open' : counted(logs, 'stream')],
    ['Ends of requests', SOURCES[source] ?? source],
    [
      'Lists of workers',
      `version ${eds.version}; ${count(eds.acks)} accepted, ${count(eds.nacks)} refused since the start`,
    ],
  ];
  const list = el(
    'dl',
    { class: 'facts' },
    ...facts.flatMap(([name, value]) => [el('dt', { text: name }), el('dd', { text: value })]),
  );
  const refused =
    eds.last_nack === null
      ? null
      : el('p', { class: 'bad', text: `Version ${eds.last_nack.version} was refused: ${eds.last_nack.message}` });
  if (eds.clients.length === 0)
    return [list, el('p', { class: 'muted', text: 'No Envoy is subscribed to the workers.' })];
  const rows = eds.clients.map(({ node, version, current }) =>
    el(
      'tr',
      {},
      el('th', { text: node === '' ? '(no name)' : node, attrs: { scope: 'row' } }),
      el('td', { text: version === '' ? 'none yet' : version }),
      el('td', {}, badge(current ? 'ok' : 'wait', current ? 'up to date' : 'behind')),
    ),
  );
  const head = el(
    'tr',
    {},
    ...['Envoy', 'Has list', 'State'].map((text) => el('th', { text, attrs: { scope: 'col' } })),
  );
  const table = el(
    'table',
    {},
    el('caption', { class: 'unseen', text: 'Envoys that take their workers from here' }),
    el('thead', {}, head),
    el('tbody', {}, ...rows),
  );
  const scroll = { role: 'region', tabindex: '0', 'aria-label': 'Envoys that take their workers from here' };
  return [list, ...(refused === null ? [] : [refused]), el('div', { class: 'scroll', attrs: scroll }, table)];
}
