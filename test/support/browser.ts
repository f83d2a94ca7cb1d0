import { accessSync, constants, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { missing } from './require.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
/** Where tests leave what they saw. */
const SCREENSHOTS = fileURLToPath(new URL('../../.cache/screenshots/', import.meta.url));

const program = findProgram();

/** True where tests in a browser have to be skipped. */
export function noBrowser(): boolean {
  return missing(
    'chromium',
    program === undefined ? `none of ${NAMES.join(', ')} is on PATH, nor is CHROMIUM_BIN set` : undefined,
  );
}

function findProgram(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const paths = [
    process.env['CHROMIUM_BIN'] ?? '',
    ...NAMES.flatMap((name) => folders.map((folder) => join(folder, name))),
  ];
  return paths.find((path) => path !== '' && isExecutable(path));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export interface LookOptions {
  readonly scheme?: 'light' | 'dark';
  readonly width?: number;
  readonly height?: number;
}

/** What axe-core has against a page, in one line each. */
export type Flaws = readonly string[];

/** One visit of a page, with everything that the browser complained of. */
export interface Visit {
  readonly page: Page;
  /** Errors of scripts, refusals by the content security policy, and failed loads. */
  readonly complaints: readonly string[];
  /** Violations of WCAG 2.1 A and AA, and of axe's best practices. */
  flaws(): Promise<Flaws>;
  /** Keeps a picture of the whole page. */
  shot(name: string): Promise<void>;
  close(): Promise<void>;
}

/** A real browser without a window. */
export class TestBrowser {
  readonly #browser: Browser;

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  static async start(): Promise<TestBrowser> {
    if (program === undefined) throw new Error('there is no browser');
    // Its own sandbox does not start for root, and the page is ours.
    return new TestBrowser(await chromium.launch({ executablePath: program, args: ['--no-sandbox', '--disable-gpu'] }));
  }

  async visit(url: string, { scheme = 'light', width = 1440, height = 900 }: LookOptions = {}): Promise<Visit> {
    const context = await this.#browser.newContext({
      colorScheme: scheme,
      viewport: { width, height },
      reducedMotion: 'reduce',
    });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (line) => {
      // A browser tells of each answer that is an error; pages judge those themselves.
      if (line.type() === 'error' && !line.text().startsWith('Failed to load resource')) complaints.push(line.text());
    });
    await page.goto(url);
    return visitOf(context, page, complaints);
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }
}

function visitOf(context: BrowserContext, page: Page, complaints: readonly string[]): Visit {
  return {
    page,
    complaints,
    flaws: async () => {
      // By the debugger, past the policy of the page.
      if (!(await page.evaluate('typeof axe === "object"'))) await evaluateFile(page, AXE);
      const found = (await page.evaluate('axe.run(document).then(({ violations }) => violations)')) as AxeViolation[];
      return found.flatMap(({ id, nodes }) =>
        nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
      );
    },
    shot: async (name) => {
      mkdirSync(SCREENSHOTS, { recursive: true });
      await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
    },
    close: () => context.close(),
  };
}

interface AxeViolation {
  readonly id: string;
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[];
}

async function evaluateFile(page: Page, path: string): Promise<void> {
  await page.evaluate(readFileSync(path, 'utf8'));
}
