// A real browser for tests: headless Chromium from npm, independent of the machine's own
// installation.
//
//   await withPage({ baseUrl: gateway.url }, async (page) => {
//     await page.goto('/keys');
//     await checkLooks(page, 'keys');
//   });
//
// Each test process has one browser, which begins before its tests and ends after them.
//
// A test fails when its page reports an error, violates its content security policy, or sends a
// request to another origin.
//
// A new profile costs half a second of CPU for its first page, so profiles are cleared and reused.
import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before } from 'node:test';
import { setTimeout } from 'node:timers/promises';
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
/** The folder for screenshots of failures, and of pages when `TOLLGATE_SCREENSHOTS` names one. */
const picturesFolder =
  process.env.TOLLGATE_SCREENSHOTS ?? join(tmpdir(), `tollgate-failures-${userInfo().username}`);

/** As narrow as a page must fit: https://www.w3.org/WAI/WCAG22/Understanding/reflow */
export const phone = { width: 320, height: 844 };
const tablet = { width: 820, height: 1180 };
const desk = { width: 1280, height: 800 };

export type PageOptions = {
  /** The gateway's address, for `page.goto('/keys')`. */
  readonly baseUrl: string;
  readonly viewport?: ViewportSize;
  readonly colorScheme?: 'light' | 'dark';
  /** `name=value`, as in a `Cookie` header. */
  readonly cookie?: string;
  /** Problems that the test causes on purpose. */
  readonly ignores?: RegExp;
};

/** Opens a page as a signed-in user, and acts on it once its heading is there. */
type Visit = <Result>(
  path: string,
  action: (page: Page) => Promise<Result>,
  options?: Partial<PageOptions>,
) => Promise<Result>;

/** `whose`: asked at each visit, because a file's gateway starts later. */
export function visitsOf(
  whose: () => {
    readonly gateway: { readonly url: string };
    readonly user: { readonly cookie: string };
  },
  usual: Partial<PageOptions> = {},
): Visit {
  return (path, action, options = {}) => {
    const { gateway, user } = whose();
    const all = { baseUrl: gateway.url, cookie: user.cookie, ...usual, ...options };
    return withPage(all, async (page) => {
      await page.goto(path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      return action(page);
    });
  };
}

let launched: Browser | undefined;
let profiles: Profiles;
before(async () => {
  // The gateway serves the built dashboard, also when it runs from its sources.
  builtProgram();
  launched = await launch();
  profiles = new Profiles(launched);
});
after(() => launched?.close());

/** `TOLLGATE_CHROMIUM`: the path of an installed Chromium, for systems other than Linux on x64. */
function launch(): Promise<Browser> {
  const installed = process.env.TOLLGATE_CHROMIUM;
  return installed === undefined ? launchOwn() : chromium.launch({ executablePath: installed });
}

async function launchOwn(): Promise<Browser> {
  const folder = await installChromium();
  return chromium.launch({
    executablePath: join(folder, 'chromium'),
    headless: true,
    // Chromium's sandbox needs rights that containers and root do not have. It only loads our own
    // pages. Without the optimising compilers, short runs use a fourth less CPU.
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--headless=new',
      '--font-render-hinting=none',
      '--js-flags=--no-turbofan --no-maglev',
    ],
    ignoreDefaultArgs: ['--headless'],
    env: {
      ...process.env,
      LD_LIBRARY_PATH: join(folder, 'al2023', 'lib'),
      FONTCONFIG_PATH: join(folder, 'fonts'),
      HOME: folder,
    },
  });
}

/** Counts the reader's clicks and taps from now on, until the page is loaded afresh. */
export async function countClicks(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(
    "window.clicks = 0; addEventListener('pointerdown', () => { window.clicks += 1; }, true)",
  );
  return () => page.evaluate('window.clicks');
}

/** After a filter changes, old rows stay until the new ones arrive. */
export async function untilThereAre(rows: Locator, count: number): Promise<void> {
  await until(async () => (await rows.count()) === count);
}

/**
 * Fails on serious and critical axe violations. Waits until transitions have ended, because a
 * colour in transition is not measured.
 */
export async function checkAccessibility(
  page: Page,
  rules: Pick<axe.RunOptions, 'runOnly' | 'rules'> = {},
): Promise<void> {
  await page.evaluate(untilStill);
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source);
  // No serious rule needs style sheets and media to be loaded first.
  const options: axe.RunOptions = {
    resultTypes: ['violations'],
    preload: false,
    ...rules,
    rules: { ...mildRules, ...rules.rules },
  };
  const found: axe.AxeResults = await page.evaluate(
    `axe.run(document, ${JSON.stringify(options)})`,
  );
  const grave = found.violations.filter(
    ({ impact }) => impact === 'serious' || impact === 'critical',
  );
  const lines = grave.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}\n  ${html}\n  ${failureSummary}`),
  );
  assert.equal(lines.length, 0, `${page.url()} has accessibility faults:\n${lines.join('\n')}`);
}

/** Rules that find moderate and minor violations only. axe's types leave out their impact. */
const { _audit: audit } = axe as unknown as {
  readonly _audit: { readonly rules: readonly { readonly id: string; readonly impact: string }[] };
};
const mildRules = Object.fromEntries(
  audit.rules
    .filter(({ impact }) => impact === 'moderate' || impact === 'minor')
    .map(({ id }) => [id, { enabled: false }]),
);

/** The rules that depend on the colour scheme, which changes no element: others find the same in both. */
const colourRules = ['color-contrast', 'link-in-text-block'];

type Look = {
  readonly name: string;
  readonly viewport: ViewportSize;
  readonly colorScheme: 'light' | 'dark';
  /** Null: only its size is checked. */
  readonly rules?: Pick<axe.RunOptions, 'runOnly' | 'rules'> | null;
};

/** The last one is a page's initial state. */
const looks: readonly Look[] = [
  {
    name: 'phone',
    viewport: phone,
    colorScheme: 'dark',
    // Phones show other elements, mostly in the same colours.
    rules: scaled(
      { rules: Object.fromEntries(colourRules.map((rule) => [rule, { enabled: false }])) },
      {},
    ),
  },
  { name: 'tablet', viewport: tablet, colorScheme: 'light', rules: null },
  { name: 'dark', viewport: desk, colorScheme: 'dark', rules: { runOnly: colourRules } },
  { name: 'light', viewport: desk, colorScheme: 'light' },
];

/**
 * Checks that the loaded page is accessible and does not overflow the screen: in light, in dark, on
 * a phone and on a tablet.
 */
export async function checkLooks(page: Page, picture: string): Promise<void> {
  await settle(page);
  for (const { name, viewport, colorScheme, rules } of looks) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(viewport);
    if (rules === null) await page.evaluate(untilStill);
    else await checkAccessibility(page, rules);
    const overflow = await page.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    assert.equal(overflow, 0, `${picture} is wider than the screen in the look '${name}'`);
    const cut = await page.evaluate(cutButtons);
    assert.deepEqual(cut, [], `${picture} cuts buttons in the look '${name}'`);
    await takePicture(page, `${picture}-${name}`);
  }
}

/** The texts of buttons, and of fields that open a menu, that have no room for them. */
const cutButtons = `[...document.querySelectorAll('.mantine-Button-label, button.mantine-Input-input')]
  .filter((label) => label.scrollWidth > label.clientWidth + 1 || label.scrollHeight > label.clientHeight + 1)
  .map((label) => label.textContent)`;

/** Follows the dashboard's client-side navigation to another page, without a full load. */
export async function goWithin(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState({}, '', ${JSON.stringify(path)})`);
}

/** Waits until no request is open and no placeholder is shown. */
export async function settle(page: Page): Promise<void> {
  const { asked } = profileOf(page);
  do {
    await page.evaluate(untilLoaded);
    await page.evaluate(untilStill);
  } while (asked.size > 0);
}

/**
 * With `TOLLGATE_TEST_SLOW_PAGES=1`, each request waits for a random time, and scripts run slowly.
 * This finds tests that rely on the order or on the speed of answers.
 */
const areSlow = process.env.TOLLGATE_TEST_SLOW_PAGES === '1';

async function slowDown({ page, protocol }: Pick<Profile, 'page' | 'protocol'>): Promise<void> {
  await protocol.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  await page.context().route('**/*', async (route) => {
    await setTimeout(Math.random() * (Math.random() < 0.3 ? 2_500 : 100));
    // The page may be gone.
    await route.continue().catch(() => {});
  });
}

/**
 * Turns off animations and the blur behind dialogs: without a GPU every such frame is slow. The
 * page's content policy allows a style sheet that a script creates.
 */
const standStill = `{
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('*, ::before, ::after { backdrop-filter: none !important; transition: none !important; }');
  document.adoptedStyleSheets.push(sheet);
}`;

/** True when no placeholder is shown. */
const untilLoaded = `new Promise((resolve) => {
  const look = () => document.querySelector('[aria-busy=true], .mantine-Skeleton-root') ? requestAnimationFrame(look) : resolve();
  look();
})`;

/**
 * Waits until finite animations have ended, then two frames, in which new elements are drawn and
 * start theirs.
 */
const untilStill = `(async () => {
  const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const moving = () => document.getAnimations().filter(({ effect }) => Number.isFinite(effect?.getComputedTiming().endTime));
  do {
    await Promise.allSettled(moving().map(({ finished }) => finished));
    await nextFrame();
    await nextFrame();
  } while (moving().length > 0);
})()`;

/** Takes a screenshot of the whole page when `TOLLGATE_SCREENSHOTS=folder` asks for it. */
export async function takePicture(page: Page, name: string): Promise<void> {
  if (process.env.TOLLGATE_SCREENSHOTS === undefined) return;
  mkdirSync(picturesFolder, { recursive: true });
  await page.evaluate(untilStill);
  await page.screenshot({ path: join(picturesFolder, `${name}.png`), fullPage: true });
}

/** The gateway refuses a call before the user confirms it, and the browser notes that. */
export const unconfirmed = /status of 403/;

/** Answers the dialog in which users confirm that it is them. */
export async function confirmIdentity(page: Page, password: string): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Confirm that it is you' });
  await dialog.getByRole('textbox', { name: 'Your password' }).fill(password);
  await dialog.getByRole('button', { name: 'Confirm' }).click();
  await dialog.waitFor({ state: 'detached' });
}

/**
 * Opens a page with an empty profile. A thrown error, or any problem of the page, leaves a
 * screenshot.
 */
export async function withPage<Result>(
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
    const described = await withPicture(error, page, problems);
    // Not awaited: a page that hangs may never close.
    void page
      .context()
      .close()
      .catch(() => {});
    throw described;
  }
}

/** A page with its own cookies and storage. */
type Profile = {
  readonly origin: string;
  readonly page: Page;
  /** For features that only Chromium's own protocol has. */
  readonly protocol: CDPSession;
  /** Everything the page did wrong. */
  readonly problems: string[];
  /** Requests not answered yet. */
  readonly asked: Set<Request>;
};

const profileOfPage = new WeakMap<Page, Profile>();

function profileOf(page: Page): Profile {
  const profile = profileOfPage.get(page);
  assert.ok(profile, 'the page is not one of withPage');
  return profile;
}

/** Profiles that are free. */
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
    // Tests of another gateway have begun.
    await Promise.all(this.#free.splice(0).map(({ page }) => page.context().close()));
    return this.#make(origin);
  }

  /** Clears a profile for its next user. A profile that opened more pages is closed. */
  async giveBack(profile: Profile): Promise<void> {
    const { page, origin, protocol, problems, asked } = profile;
    const context = page.context();
    if (context.pages().length > 1) return context.close();
    // A page of the same origin keeps its process, and so its compiled code.
    await page.goto('/healthz');
    await page.unrouteAll();
    await context.clearCookies();
    await page.evaluate('sessionStorage.clear()');
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
      // Tests wait for the final state of a page, not for its animations.
      reducedMotion: 'reduce',
    });
    // A limit for hangs only.
    context.setDefaultTimeout(240_000);
    // A screenshot shows the whole page.
    if (process.env.TOLLGATE_SCREENSHOTS === undefined) await context.addInitScript(standStill);
    const problems: string[] = [];
    const asked = new Set<Request>();
    watch(context, { origin, problems, asked });
    const page = await context.newPage();
    const profile = { origin, page, problems, asked, protocol: await context.newCDPSession(page) };
    if (areSlow) await slowDown(profile);
    profileOfPage.set(page, profile);
    return profile;
  }
}

/** Collects a page's problems as they happen. */
function watch(
  context: BrowserContext,
  { origin, problems, asked }: Pick<Profile, 'origin' | 'problems' | 'asked'>,
): void {
  context.on('console', (message) => {
    if (message.type() === 'error')
      problems.push(`console: ${message.text()} (${message.location().url})`);
  });
  context.on('weberror', (webError) =>
    problems.push(`thrown: ${webError.error().stack ?? webError.error().message}`),
  );
  context.on('request', (request) => {
    asked.add(request);
    const url = new URL(request.url());
    if (['http:', 'https:', 'ws:', 'wss:'].includes(url.protocol) && url.origin !== origin)
      problems.push(`another origin was asked for ${request.url()}`);
  });
  context.on('requestfinished', (request) => asked.delete(request));
  context.on('requestfailed', (request) => asked.delete(request));
}

async function withPicture(
  thrown: unknown,
  page: Page,
  problems: readonly string[],
): Promise<Error> {
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

/** Unpacked once per user and version; a second process finds it complete. */
async function installChromium(): Promise<string> {
  const { version } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  const folder = join(tmpdir(), `tollgate-chromium-${version}-${userInfo().uid}`);
  if (existsSync(folder)) return folder;
  const unfinished = mkdtempSync(`${folder}-`);
  const files = ['chromium.br', 'al2023.tar.br', 'fonts.tar.br'].map((name) =>
    join(packageFolder, 'bin', name),
  );
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

/**
 * The package's font, then the machine's fonts, if any. Without a font configuration file no text
 * is drawn.
 */
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

/**
 * The package unpacks into the system's temporary folder, whose name it reads when it is imported.
 */
function inTemporaryFolder<Result>(folder: string, unpack: () => Promise<Result>): Promise<Result> {
  const usual = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  try {
    return unpack();
  } finally {
    if (usual === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = usual;
  }
}
