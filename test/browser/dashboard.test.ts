import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { MODEL } from '../support/bodies.ts';
import { type LookOptions, noBrowser, TestBrowser, type Visit } from '../support/browser.ts';
import { ask, noEnvoy, ServiceProcess, type Stack, startStack, until } from '../support/services.ts';

const skipped = noBrowser();
const STICKY = ['--policy', 'round_robin', '--routing-key-override'];

let browser: TestBrowser;

beforeAll(async () => {
  if (!skipped) browser = await TestBrowser.start();
});
afterAll(() => browser?.close());

async function visit(service: ServiceProcess, look: LookOptions = {}): Promise<Visit> {
  const made = await browser.visit(service.adminUrl, look);
  onTestFinished(() => made.close());
  return made;
}

/** A visit that shows what the service said. */
async function shown(service: ServiceProcess, look: LookOptions = {}): Promise<Visit> {
  const made = await visit(service, look);
  await made.page.locator('body[data-state="shown"]').waitFor();
  return made;
}

async function serve(flags: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<ServiceProcess> {
  const service = await ServiceProcess.start(flags, env);
  onTestFinished(() => service.kill());
  return service;
}

function chat(stack: Stack, key: string) {
  const body = JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'Hello' }] });
  const headers = { 'content-type': 'application/json', 'x-smg-routing-key': key };
  return ask(stack.url, { method: 'POST', path: '/v1/chat/completions', headers, body });
}

const SCHEMES = ['light', 'dark'] as const;

describe.skipIf(skipped)('issue 8 the dashboard without an Envoy', () => {
  it.each(SCHEMES)('an empty service says what is missing, %s', async (scheme) => {
    const { page, flaws, complaints, shot } = await shown(await serve(STICKY), { scheme });

    await page.getByText('There is no worker').waitFor();
    await page.getByText('No Envoy is connected').waitFor();
    await page.getByText('No worker is registered.').waitFor();
    await page.getByText('No request yet.').waitFor();
    await shot(`empty-${scheme}`);
    expect(await flaws()).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it.each(SCHEMES)('200 workers are found, sorted and filtered, %s', async (scheme) => {
    const urls = Array.from({ length: 200 }, (_, i) => `http://10.1.${i >> 7}.${(i & 127) + 1}:8000`);
    const service = await serve([...STICKY, '--disable-health-check', '--worker-urls', ...urls]);
    await service.admin(`/workers/${encodeURIComponent(urls[17]!)}/drain`, { method: 'POST' });
    const { page, flaws, complaints, shot } = await shown(service, { scheme });
    const rows = page.locator('#workers tbody tr');
    await expect.poll(() => rows.count()).toBe(200);
    await shot(`two-hundred-${scheme}`);
    expect(await flaws()).toEqual([]);

    await page.getByLabel('Status').selectOption('draining');
    await expect.poll(() => rows.count()).toBe(1);
    expect(await rows.first().textContent()).toContain(urls[17]);
    await page.getByLabel('Status').selectOption('');
    await page.getByLabel('Find').fill('10.1.1.7');
    await expect.poll(() => rows.count()).toBe(4);
    await page.getByLabel('Find').fill('');
    const head = page.locator('#workers thead').getByRole('button', { name: 'Worker' });
    await head.click();
    await head.click();
    await expect.poll(() => rows.first().textContent()).toContain('10.1.1.72');
    expect(await page.getByRole('columnheader', { name: 'Worker' }).getAttribute('aria-sort')).toBe('descending');
    expect(complaints).toEqual([]);
  });

  it('keeps its data behind the key, and its buttons behind the role', async () => {
    const keys = { SMG_CONTROL_PLANE_API_KEYS: 'ops:Operators:admin:s3cret view:Lookers:user:look' };
    const service = await serve([...STICKY, '--disable-health-check', '--worker-urls', 'http://10.1.0.1:8000'], keys);
    const { page, flaws, shot, complaints } = await visit(service);
    const dialog = page.getByRole('dialog', { name: 'Sign in' });
    await dialog.waitFor();
    await shot('locked');
    expect(await flaws()).toEqual([]);

    await page.getByLabel('Key or token').fill('wrong');
    await page.keyboard.press('Enter');
    await dialog.getByText('That key was not accepted').waitFor();
    await page.getByLabel('Key or token').fill('look');
    await page.keyboard.press('Enter');
    await page.locator('body[data-state="shown"]').waitFor();
    const drain = page.getByRole('button', { name: 'Drain http://10.1.0.1:8000' });
    await expect.poll(() => drain.getAttribute('aria-disabled')).toBe('true');
    await shot('one-worker');
    await drain.focus();
    await page.keyboard.press('Enter');
    await page.getByText('That needs a key of the role admin.').waitFor();
    expect((await service.admin('/workers', { headers: { authorization: 'Bearer look' } })).text).not.toContain(
      'draining',
    );

    await page.getByRole('button', { name: 'Sign out view' }).click();
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByLabel('Key or token').fill('s3cret');
    await page.keyboard.press('Enter');
    await expect.poll(() => drain.getAttribute('aria-disabled')).toBeNull();
    await drain.click();
    await page.getByText('is draining: new keys go elsewhere').waitFor();
    expect(await page.evaluate('JSON.stringify(Object.entries(localStorage)) + document.cookie')).toBe('[]');
    expect(complaints).toEqual([]);
  });
});

describe.skipIf(skipped || noEnvoy())('issue 8 the dashboard of a service with an Envoy', () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await startStack({ flags: STICKY, sim: { count: 3 } });
  });
  afterAll(() => stack?.close());

  it('tells within four looks what a new user asks', async () => {
    const { page, flaws, complaints, shot } = await shown(stack.service);
    const first = await chat(stack, 'conversation-42');
    await chat(stack, 'conversation-42');
    const served = stack.sim.workers.find(({ url }) => url === first.headers['x-smg-routed-worker-id'])!;

    // Which worker holds key X, and why did its last request go there?
    await page.getByLabel('Routing key').fill('conversation-42');
    await page.keyboard.press('Enter');
    const result = page.locator('#key-result');
    await result.getByText(`Its last request went to ${served.url}`).waitFor();
    expect(await result.locator('.answer').textContent()).toContain(`is on ${served.url}`);
    await result.getByText('the pin held').waitFor();

    // Which worker is drained?
    const row = page.locator('#workers tbody tr', { hasText: served.url });
    await row.getByRole('button', { name: `Drain ${served.url}` }).click();
    await row.getByText('draining').waitFor();
    await expect.poll(() => page.locator('#tiles').textContent()).toContain('1 draining');

    // Is Envoy connected, and does it have the workers?
    await expect.poll(() => page.locator('#tiles').textContent()).toContain('Connected');
    await page.locator('#envoy').getByText('up to date').waitFor();
    await shot('answers');
    expect(await flaws()).toEqual([]);

    await row.getByRole('button', { name: `Undrain ${served.url}` }).click();
    await row.getByText('ready').waitFor();
    await until(async () => (await stack.endpoints()).size === 3, 'Envoy has all workers');
    expect(complaints).toEqual([]);
  });

  it('streams decisions, filters them, and explains each', async () => {
    const { page, flaws, complaints, shot } = await shown(stack.service);
    for (const key of ['live-1', 'live-1', 'live-2', 'live-2']) await chat(stack, key);
    const rows = page.locator('#decisions tbody tr');
    await expect.poll(() => rows.count()).toBeGreaterThanOrEqual(4);

    await page.getByLabel('Key or its hash').fill('live-1');
    await page.getByRole('button', { name: 'Filter' }).click();
    await expect.poll(() => rows.count()).toBe(2);
    expect(await rows.first().textContent()).toContain('pin held');
    expect(await rows.nth(1).textContent()).toContain('new key');
    expect(await page.locator('#decisions').textContent()).not.toContain('live-1');

    await rows.nth(1).getByRole('button').focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('paragraph').getByText('Its key was not pinned yet').waitFor();
    await shot('why');
    expect(await flaws()).toEqual([]);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });

    await page.getByRole('button', { name: 'Pause' }).click();
    await chat(stack, 'live-1');
    await page.getByText('Paused.').waitFor();
    expect(await rows.count()).toBe(2);
    await page.getByRole('button', { name: 'Go on' }).click();
    await expect.poll(() => rows.count()).toBe(3);
    expect(complaints).toEqual([]);
  });

  it('tells where a request would go, and changes nothing by it', async () => {
    const { page, flaws, complaints, shot } = await shown(stack.service);
    await page.getByLabel('Routing key').fill('never-seen-1');
    await page.keyboard.press('Enter');
    await page.getByText('it is not pinned').waitFor();
    await page.getByRole('button', { name: 'Where would its next request go?' }).click();

    const result = page.locator('#explain-result');
    await result.getByText('It would go to').waitFor();
    await result.getByText('none yet; it would be written').waitFor();
    expect(await result.locator('tbody tr').count()).toBe(3);
    expect(await result.locator('tbody tr').first().textContent()).toContain('picked');
    await shot('explained');
    expect(await flaws()).toEqual([]);

    const { status } = await stack.service.admin('/pins/never-seen-1');
    expect(status).toBe(404);
    await page.getByLabel('Headers, one a line').fill('nonsense');
    await page.getByRole('button', { name: 'Explain', exact: true }).click();
    await result.getByText('“nonsense” is no header').waitFor();
    expect(complaints).toEqual([]);
  });

  it('is used by the keyboard alone, and the focus stays where it was', async () => {
    const { page, complaints } = await shown(stack.service);
    await chat(stack, 'keys-1');
    const focused = () => page.evaluate('document.activeElement.id || document.activeElement.textContent');

    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    expect(await focused()).toBe('main');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('key-input');
    await page.keyboard.type('keys-1');
    await page.keyboard.press('Enter');
    const details = page.getByRole('button', { name: 'Details of the last request' });
    await details.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    expect(await focused()).toBe('Details');

    const url = stack.sim.urls[0]!;
    const row = page.locator('#workers tbody tr', { hasText: url });
    await row.getByRole('button').focus();
    await page.keyboard.press('Enter');
    await row.getByText('draining').waitFor();
    await expect.poll(focused).toBe('Undrain');
    await page.keyboard.press('Enter');
    await row.getByText('ready').waitFor();
    await expect.poll(focused).toBe('Drain');
    expect(complaints).toEqual([]);
  });

  it('says that the service is gone, and goes on when it is back', async () => {
    const service = await serve([...STICKY, '--worker-urls', ...stack.sim.urls]);
    const { page } = await shown(service);
    await service.kill();
    await expect.poll(() => page.locator('#updated').textContent(), { timeout: 10_000 }).toContain('No answer since');

    await service.start();
    await expect.poll(() => page.locator('#updated').textContent(), { timeout: 10_000 }).toContain('Updated');
    await expect
      .poll(() => page.locator('#decisions-status').textContent(), { timeout: 10_000 })
      .toContain('No request yet');
  });

  it.each(SCHEMES)('plots what came, and is whole at every width, %s', async (scheme) => {
    const { page, flaws, shot, complaints } = await shown(stack.service, { scheme });
    for (let i = 0; i < 60; i++) await chat(stack, `plot-${i % 20}`);
    await expect
      .poll(() => page.locator('#plots .plot').nth(1).textContent(), { timeout: 20_000 })
      .toContain('pin held');
    await page.getByText('As a table').click();
    await expect.poll(() => page.locator('#plots tbody tr').count()).toBeGreaterThan(0);
    await page.getByText('As a table').click();
    await shot(`busy-${scheme}`);
    expect(await flaws()).toEqual([]);
    for (const width of [1024, 768, 390]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      await shot(`busy-${scheme}-${width}`);
    }
    expect(complaints).toEqual([]);
  });
});
