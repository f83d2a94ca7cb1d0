/** The page of the admin port: asks the service every few seconds, and shows what it says. */
import { ApiError, ask } from './api.ts';
import { DecisionsView } from './decisions-view.ts';
import { byId, closable, setText, toast } from './dom.ts';
import { ExplainView } from './explain-view.ts';
import { LookupView } from './lookup-view.ts';
import { OverviewView } from './overview-view.ts';
import { Plots } from './plots.ts';
import { Session } from './session.ts';
import type { Overview, Series, WorkerRow } from './shapes.ts';
import { timeOf } from './words.ts';
import { WorkersView } from './workers-view.ts';

const EVERY_MS = 2000;
const SERIES_EVERY_MS = 5000;

let workers: readonly WorkerRow[] = [];
let series: Series | null = null;
let seriesAt = Number.NEGATIVE_INFINITY;
let answeredAt: Date | null = null;
let listening = false;
let timer: ReturnType<typeof setTimeout> | undefined;

const overviewView = new OverviewView();
const plots = new Plots();
const decisionsView = new DecisionsView();
const explainView = new ExplainView();
const workersView = new WorkersView({ change: changeWorker });
new LookupView({ workers: () => workers, explain: (key) => explainView.fill(key) });
const session = new Session(() => {
  listening = false;
  decisionsView.stop();
  void refresh();
});
closable(byId('decision-dialog', 'dialog'));

/** Asks for everything once, and again in a while; not while nobody can see the page. */
async function refresh(): Promise<void> {
  clearTimeout(timer);
  try {
    const wantsSeries = performance.now() - seriesAt >= SERIES_EVERY_MS;
    const [overview, list, points] = await Promise.all([
      ask<Overview>('/dashboard/overview'),
      ask<{ readonly workers: readonly WorkerRow[] }>('/workers'),
      wantsSeries ? ask<Series>('/dashboard/series') : null,
    ]);
    show(overview, list.workers, points);
  } catch (error) {
    failed(error);
  }
  if (document.visibilityState === 'visible') timer = setTimeout(() => void refresh(), EVERY_MS);
}

function show(overview: Overview, list: readonly WorkerRow[], points: Series | null): void {
  session.accepted(overview);
  workers = list;
  if (points !== null) {
    series = points;
    seriesAt = performance.now();
    plots.show(points);
  }
  overviewView.show(overview, series);
  workersView.show({ workers, mayChange: session.mayChange });
  decisionsView.showWorkers(workers);
  if (!listening) {
    listening = true;
    decisionsView.start();
  }
  answeredAt = new Date();
  const updated = byId('updated', 'span');
  setText(updated, `Updated ${timeOf(answeredAt)}`);
  updated.className = 'muted';
  document.body.dataset['state'] = 'shown';
}

function failed(error: unknown): void {
  if (error instanceof ApiError && error.status === 401) {
    session.refused(error.message);
    setText(byId('ready', 'span'), 'A key is needed');
    byId('ready', 'span').className = 'badge wait';
    document.body.dataset['state'] = 'locked';
    return;
  }
  const updated = byId('updated', 'span');
  const since = answeredAt === null ? '' : ` since ${timeOf(answeredAt)}`;
  setText(updated, error instanceof ApiError && error.status > 0 ? error.message : `No answer${since}`);
  updated.className = 'bad';
}

async function changeWorker(worker: WorkerRow, to: 'drain' | 'undrain'): Promise<void> {
  if (!session.mayChange) {
    toast('That needs a key of the role admin.', 'bad');
    return;
  }
  try {
    await ask(`/workers/${encodeURIComponent(worker.id)}/${to}`, { method: 'POST' });
    toast(
      to === 'drain'
        ? `${worker.name} is draining: new keys go elsewhere, keys that are pinned there stay until they are idle.`
        : `${worker.name} takes new keys again.`,
    );
  } catch (error) {
    toast(error instanceof ApiError ? error.message : String(error), 'bad');
  }
  await refresh();
}

// A page that nobody sees is no reason to record decisions.
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') {
    void refresh();
    return;
  }
  clearTimeout(timer);
  listening = false;
  decisionsView.stop();
});
void refresh();
