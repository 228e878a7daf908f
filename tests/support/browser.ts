// A real browser for tests: Chromium from npm, headless, with nothing of the machine's own.
//
//   const browser = await openBrowser();
//   await browser.withPage({ baseUrl: gateway.url }, async (page) => {
//     await page.goto('/keys');
//     await checkAccessibility(page);
//   });
//   await browser.close();
//
// A page that reports an error, breaks its own content policy or asks another origin for anything fails its test.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { inflate } from '@sparticuz/chromium';
import axe from 'axe-core';
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core';

const packageFile = createRequire(import.meta.url).resolve('@sparticuz/chromium');
const packageFolder = dirname(dirname(packageFile));
/** Where pictures of failures go, and of pages when `TOLLGATE_SCREENSHOTS` names a folder. */
const picturesFolder = process.env.TOLLGATE_SCREENSHOTS ?? join(tmpdir(), `tollgate-failures-${userInfo().username}`);

export const phone = { width: 390, height: 844 };
export const desk = { width: 1280, height: 800 };

export type PageOptions = Pick<BrowserContextOptions, 'colorScheme' | 'viewport' | 'storageState' | 'locale' | 'timezoneId'> & {
  /** The gateway's address: `page.goto('/keys')`. */
  readonly baseUrl: string;
  /** `name=value`, as a `Cookie` header has it. */
  readonly cookie?: string;
  /** Problems that the test brings about on purpose. */
  readonly ignores?: RegExp;
};

export type TestBrowser = {
  /** A page of a fresh profile. What is thrown leaves a picture; so does every problem the page had. */
  readonly withPage: <Result>(options: PageOptions, visit: (page: Page) => Promise<Result>) => Promise<Result>;
  readonly close: () => Promise<void>;
};

/** `TOLLGATE_CHROMIUM`: the path of one that is installed, for systems that the package has none for (it is for Linux on x64). */
export async function openBrowser(): Promise<TestBrowser> {
  const installed = process.env.TOLLGATE_CHROMIUM;
  const browser = await (installed === undefined ? launchOwn() : chromium.launch({ executablePath: installed }));
  return { withPage: (options, visit) => withPage(browser, options, visit), close: () => browser.close() };
}

async function launchOwn(): Promise<Browser> {
  const folder = await installChromium();
  return chromium.launch({
    executablePath: join(folder, 'chromium'),
    headless: true,
    // Chromium's sandbox needs rights that containers and root do not have; it only ever loads pages of ours.
    args: ['--no-sandbox', '--disable-gpu', '--headless=new', '--font-render-hinting=none'],
    ignoreDefaultArgs: ['--headless'],
    env: { ...process.env, LD_LIBRARY_PATH: join(folder, 'al2023', 'lib'), FONTCONFIG_PATH: join(folder, 'fonts'), HOME: folder },
  });
}

/** Fails with what axe finds of serious and critical faults, once the page has come to rest: a colour on its way to another is not read. */
export async function checkAccessibility(page: Page): Promise<void> {
  await page.evaluate(untilStill);
  await page.evaluate(axe.source);
  const found: axe.AxeResults = await page.evaluate("axe.run(document, { resultTypes: ['violations'] })");
  const grave = found.violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  const lines = grave.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}\n  ${html}\n  ${failureSummary}`),
  );
  assert.equal(lines.length, 0, `${page.url()} has accessibility faults:\n${lines.join('\n')}`);
}

/** Whatever moves has come to its end, but for what moves without one. Two frames, in which what is new is drawn and begins to move. */
const untilStill = `(async () => {
  const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const moving = () => document.getAnimations().filter(({ effect }) => Number.isFinite(effect?.getComputedTiming().endTime));
  do {
    await Promise.allSettled(moving().map(({ finished }) => finished));
    await nextFrame();
    await nextFrame();
  } while (moving().length > 0);
})()`;

/** A picture of the whole page, when pictures are asked for: `TOLLGATE_SCREENSHOTS=folder`. */
export async function takePicture(page: Page, name: string): Promise<void> {
  if (process.env.TOLLGATE_SCREENSHOTS === undefined) return;
  mkdirSync(picturesFolder, { recursive: true });
  await page.evaluate(untilStill);
  await page.screenshot({ path: join(picturesFolder, `${name}.png`), fullPage: true });
}

async function withPage<Result>(browser: Browser, options: PageOptions, visit: (page: Page) => Promise<Result>): Promise<Result> {
  const { baseUrl, cookie, ignores, ...contextOptions } = options;
  const context = await browser.newContext({
    baseURL: baseUrl,
    viewport: desk,
    locale: 'en-GB',
    timezoneId: 'UTC',
    // Tests wait for what a page shows, not for how it gets there.
    reducedMotion: 'reduce',
    ...contextOptions,
  });
  context.setDefaultTimeout(15_000);
  try {
    if (cookie !== undefined) await context.addCookies(cookiesOf(cookie, baseUrl));
    const problems = watch(context, new URL(baseUrl).origin);
    const page = await context.newPage();
    try {
      const result = await visit(page);
      const grave = problems.filter((problem) => !ignores?.test(problem));
      assert.deepEqual(grave, [], `${page.url()} reported problems`);
      return result;
    } catch (error) {
      throw await withPicture(error, page, problems);
    }
  } finally {
    await context.close();
  }
}

/** Whatever a page does that it should not, as it happens. */
function watch(context: BrowserContext, origin: string): string[] {
  const problems: string[] = [];
  context.on('console', (message) => {
    if (message.type() === 'error') problems.push(`console: ${message.text()} (${message.location().url})`);
  });
  context.on('weberror', (webError) => problems.push(`thrown: ${webError.error().stack ?? webError.error().message}`));
  context.on('request', (request) => {
    const url = new URL(request.url());
    if (['http:', 'https:', 'ws:', 'wss:'].includes(url.protocol) && url.origin !== origin)
      problems.push(`another origin was asked for ${request.url()}`);
  });
  return problems;
}

async function withPicture(thrown: unknown, page: Page, problems: readonly string[]): Promise<Error> {
  mkdirSync(picturesFolder, { recursive: true });
  const path = join(picturesFolder, `failure-${process.pid}-${Date.now()}.png`);
  const taken = await page.screenshot({ path, fullPage: true }).then(
    () => `\nA picture of the page: ${path}`,
    () => '',
  );
  const reported = problems.length === 0 ? '' : `\nThe page reported:\n${problems.join('\n')}`;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new Error(`${message}\nAt ${page.url()}${reported}${taken}`, { cause: thrown });
}

function cookiesOf(header: string, url: string) {
  return header.split(';').map((pair) => {
    const [name, ...value] = pair.trim().split('=');
    return { name: name!, value: value.join('='), url };
  });
}

/** Unpacked once for each user and version; who comes second finds it whole. */
async function installChromium(): Promise<string> {
  const { version } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as { readonly version: string };
  const folder = join(tmpdir(), `tollgate-chromium-${version}-${userInfo().uid}`);
  if (existsSync(folder)) return folder;
  const unfinished = mkdtempSync(`${folder}-`);
  const files = ['chromium.br', 'al2023.tar.br', 'fonts.tar.br'].map((name) => join(packageFolder, 'bin', name));
  await inTemporaryFolder(unfinished, () => Promise.all(files.map((file) => inflate(file))));
  chmodSync(join(unfinished, 'chromium'), 0o700);
  writeFileSync(join(unfinished, 'fonts', 'fonts.conf'), fontsConfiguration(folder));
  try {
    renameSync(unfinished, folder);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

/** The package's font, and after it the machine's, if there are any. Without a file that says so, no text is drawn. */
function fontsConfiguration(folder: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${join(folder, 'fonts')}</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir>${join(folder, 'font-cache')}</cachedir>
  <alias><family>system-ui</family><prefer><family>Open Sans</family></prefer></alias>
  <alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
  <alias><family>sans-serif</family><prefer><family>Open Sans</family></prefer></alias>
</fontconfig>
`;
}

/** The package unpacks into the folder for temporary files, and asks for its name at once. */
function inTemporaryFolder<Result>(folder: string, unpack: () => Promise<Result>): Promise<Result> {
  const before = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  try {
    return unpack();
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
}
