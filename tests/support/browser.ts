// A real browser for tests: Chromium from npm, headless, with nothing of the machine's own.
//
//   const browser = await openBrowser();
//   await browser.withPage({ baseUrl: gateway.url }, async (page) => {
//     await page.goto('/keys');
//     await checkLooks(page, 'keys');
//   });
//
// A process of tests has one, which ends with its tests.
//
// A page that reports an error, breaks its own content policy or asks another origin for anything fails its test.
//
// A new profile needs half a second of CPU for its first page, so profiles are emptied and used again.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { after } from 'node:test';
import { inflate } from '@sparticuz/chromium';
import axe from 'axe-core';
import {
  chromium,
  type Browser,
  type BrowserContext,
  type CDPSession,
  type Locator,
  type Page,
  type Request,
  type ViewportSize,
} from 'playwright-core';
import { builtProgram } from './built-program.ts';
import { until } from './until.ts';
import { scaled } from './volume.ts';

const packageFile = createRequire(import.meta.url).resolve('@sparticuz/chromium');
const packageFolder = dirname(dirname(packageFile));
/** Where pictures of failures go, and of pages when `TOLLGATE_SCREENSHOTS` names a folder. */
const picturesFolder = process.env.TOLLGATE_SCREENSHOTS ?? join(tmpdir(), `tollgate-failures-${userInfo().username}`);

export const phone = { width: 390, height: 844 };
const desk = { width: 1280, height: 800 };

export type PageOptions = {
  /** The gateway's address: `page.goto('/keys')`. */
  readonly baseUrl: string;
  readonly viewport?: ViewportSize;
  readonly colorScheme?: 'light' | 'dark';
  /** `name=value`, as a `Cookie` header has it. */
  readonly cookie?: string;
  /** Problems that the test brings about on purpose. */
  readonly ignores?: RegExp;
};

export type TestBrowser = {
  /** A page of an empty profile. What is thrown leaves a picture; so does every problem the page had. */
  readonly withPage: <Result>(options: PageOptions, visit: (page: Page) => Promise<Result>) => Promise<Result>;
};

let opened: { readonly browser: Promise<Browser>; readonly profiles: Promise<Profiles> } | null = null;
after(async () => (await opened?.browser)?.close());

export async function openBrowser(): Promise<TestBrowser> {
  // The gateway serves the dashboard from the build, also when it runs from its sources.
  builtProgram();
  opened ??= open();
  const profiles = await opened.profiles;
  return { withPage: (options, visit) => withPage(profiles, options, visit) };
}

function open(): NonNullable<typeof opened> {
  const browser = launch();
  return { browser, profiles: browser.then((launched) => new Profiles(launched)) };
}

/** `TOLLGATE_CHROMIUM`: the path of one that is installed, for systems that the package has none for (it is for Linux on x64). */
function launch(): Promise<Browser> {
  const installed = process.env.TOLLGATE_CHROMIUM;
  return installed === undefined ? launchOwn() : chromium.launch({ executablePath: installed });
}

async function launchOwn(): Promise<Browser> {
  const folder = await installChromium();
  return chromium.launch({
    executablePath: join(folder, 'chromium'),
    headless: true,
    // Chromium's sandbox needs rights that containers and root do not have; it only ever loads pages of ours.
    // Without the optimising compiler, short runs take a fifth less CPU.
    args: ['--no-sandbox', '--disable-gpu', '--headless=new', '--font-render-hinting=none', '--js-flags=--no-turbofan'],
    ignoreDefaultArgs: ['--headless'],
    env: { ...process.env, LD_LIBRARY_PATH: join(folder, 'al2023', 'lib'), FONTCONFIG_PATH: join(folder, 'fonts'), HOME: folder },
  });
}

/** A filter leaves old rows on the page until the new ones have come. */
export async function untilThereAre(rows: Locator, count: number): Promise<void> {
  await until(async () => (await rows.count()) === count);
}

/** Fails with what axe finds of serious and critical faults, once the page has come to rest: a colour on its way to another is not read. */
export async function checkAccessibility(page: Page, rules: Pick<axe.RunOptions, 'runOnly' | 'rules'> = {}): Promise<void> {
  await page.evaluate(untilStill);
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source);
  // No grave rule needs style sheets and media to be loaded first.
  const options: axe.RunOptions = { resultTypes: ['violations'], preload: false, ...rules };
  const found: axe.AxeResults = await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`);
  const grave = found.violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  const lines = grave.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}\n  ${html}\n  ${failureSummary}`),
  );
  assert.equal(lines.length, 0, `${page.url()} has accessibility faults:\n${lines.join('\n')}`);
}

/** The rules whose result depends on the colour scheme. It changes no element, so the other rules find the same in both. */
const colourRules = ['color-contrast', 'link-in-text-block'];

/** On a phone other elements are shown, in the same colours. */
const otherRules = Object.fromEntries(colourRules.map((rule) => [rule, { enabled: false }]));

type Look = {
  readonly name: string;
  readonly viewport: ViewportSize;
  readonly colorScheme: 'light' | 'dark';
  readonly rules?: Pick<axe.RunOptions, 'runOnly' | 'rules'>;
};

/** The last is how a page begins. */
const looks: readonly Look[] = [
  ...scaled<readonly Look[]>([], [{ name: 'phone-dark', viewport: phone, colorScheme: 'dark' }]),
  { name: 'phone', viewport: phone, colorScheme: 'light', rules: scaled({ rules: otherRules }, {}) },
  { name: 'dark', viewport: desk, colorScheme: 'dark', rules: scaled({ runOnly: colourRules }, {}) },
  { name: 'light', viewport: desk, colorScheme: 'light' },
];

/** Checks the loaded page in light, in dark and on a phone: it is accessible, and nothing is wider than the screen. */
export async function checkLooks(page: Page, picture: string): Promise<void> {
  await settle(page);
  for (const { name, viewport, colorScheme, rules } of looks) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(viewport);
    await checkAccessibility(page, rules);
    const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    assert.equal(overflow, 0, `${picture} is wider than the screen in the look '${name}'`);
    await takePicture(page, `${picture}-${name}`);
  }
}

/** Goes to another page of the dashboard as its links do, without loading the whole of it again. */
export async function goWithin(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState({}, '', ${JSON.stringify(path)})`);
}

/** Waits until the page has loaded: no request is open, and no placeholder is shown. */
export async function settle(page: Page): Promise<void> {
  const { asked } = profileOf(page);
  do {
    await page.evaluate(untilLoaded);
    await page.evaluate(untilStill);
  } while (asked.size > 0);
}

/**
 * Nothing moves to its place, and nothing behind a dialog is blurred: without a graphics card, every frame of that takes long to draw.
 * The page's policy allows a style sheet that a script makes.
 */
const standStill = `{
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('*, ::before, ::after { backdrop-filter: none !important; transition: none !important; }');
  document.adoptedStyleSheets.push(sheet);
}`;

/** No placeholder is shown. */
const untilLoaded = `new Promise((resolve) => {
  const look = () => document.querySelector('[aria-busy=true], .mantine-Skeleton-root') ? requestAnimationFrame(look) : resolve();
  look();
})`;

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

async function withPage<Result>(
  profiles: Profiles,
  options: PageOptions,
  visit: (page: Page) => Promise<Result>,
): Promise<Result> {
  const { cookie, ignores, baseUrl, viewport = desk, colorScheme = 'light' } = options;
  const profile = await profiles.take(baseUrl);
  const { page, problems } = profile;
  try {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    if (cookie !== undefined) await page.context().addCookies(cookiesOf(cookie, baseUrl));
    const result = await visit(page);
    const grave = problems.filter((problem) => !ignores?.test(problem));
    assert.deepEqual(grave, [], `${page.url()} reported problems`);
    await profiles.giveBack(profile);
    return result;
  } catch (error) {
    const told = await withPicture(error, page, problems);
    await page.context().close();
    throw told;
  }
}

/** A page with cookies and storage of its own. */
type Profile = {
  readonly origin: string;
  readonly page: Page;
  /** For what only Chromium's own protocol can do. */
  readonly protocol: CDPSession;
  /** Whatever the page did that it should not. */
  readonly problems: string[];
  /** The requests that are not answered yet. */
  readonly asked: Set<Request>;
};

const profileOfPage = new WeakMap<Page, Profile>();

function profileOf(page: Page): Profile {
  const profile = profileOfPage.get(page);
  assert.ok(profile, 'the page is not one of withPage');
  return profile;
}

/** The profiles that nobody uses now. */
class Profiles {
  readonly #browser: Browser;
  readonly #free: Profile[] = [];

  constructor(browser: Browser) {
    this.#browser = browser;
  }

  async take(baseUrl: string): Promise<Profile> {
    const { origin } = new URL(baseUrl);
    const index = this.#free.findIndex((profile) => profile.origin === origin);
    if (index !== -1) return this.#free.splice(index, 1)[0]!;
    // The tests of another gateway have begun.
    await Promise.all(this.#free.splice(0).map(({ page }) => page.context().close()));
    return this.#make(origin);
  }

  /** Empties a profile for its next user. One that has opened further pages is closed. */
  async giveBack(profile: Profile): Promise<void> {
    const { page, origin, protocol, problems, asked } = profile;
    const context = page.context();
    if (context.pages().length > 1) return context.close();
    // A page of the same origin keeps its process, and with it the compiled code.
    await page.goto('/healthz');
    await page.unrouteAll();
    await context.clearCookies();
    await protocol.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
    problems.length = 0;
    asked.clear();
    this.#free.push(profile);
  }

  async #make(origin: string): Promise<Profile> {
    const context = await this.#browser.newContext({
      baseURL: origin,
      locale: 'en-GB',
      timezoneId: 'UTC',
      // Tests wait for what a page shows, not for how it gets there.
      reducedMotion: 'reduce',
    });
    // Only ends a hang.
    context.setDefaultTimeout(60_000);
    // Whoever looks at pictures wants all of it.
    if (process.env.TOLLGATE_SCREENSHOTS === undefined) await context.addInitScript(standStill);
    const problems: string[] = [];
    const asked = new Set<Request>();
    watch(context, { origin, problems, asked });
    const page = await context.newPage();
    const profile = { origin, page, problems, asked, protocol: await context.newCDPSession(page) };
    profileOfPage.set(page, profile);
    return profile;
  }
}

/** Whatever a page does that it should not, as it happens. */
function watch(context: BrowserContext, { origin, problems, asked }: Pick<Profile, 'origin' | 'problems' | 'asked'>): void {
  context.on('console', (message) => {
    if (message.type() === 'error') problems.push(`console: ${message.text()} (${message.location().url})`);
  });
  context.on('weberror', (webError) => problems.push(`thrown: ${webError.error().stack ?? webError.error().message}`));
  context.on('request', (request) => {
    asked.add(request);
    const url = new URL(request.url());
    if (['http:', 'https:', 'ws:', 'wss:'].includes(url.protocol) && url.origin !== origin)
      problems.push(`another origin was asked for ${request.url()}`);
  });
  context.on('requestfinished', (request) => asked.delete(request));
  context.on('requestfailed', (request) => asked.delete(request));
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
