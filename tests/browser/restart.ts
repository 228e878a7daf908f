// An open page while the real gateway is killed and started again, with the same version and with a
// newer one.
import assert from 'node:assert/strict';
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { takePicture, withPage } from '../support/browser.ts';
import { builtProgram } from '../support/built-program.ts';
import { signIn, type DashboardClient } from '../support/dashboard.ts';
import { startGatewayProgram, type TestGateway } from '../support/gateway.ts';
import type { Program } from '../support/program.ts';

/** The browser reports each failed request; the tests cause them. */
const ignores = /Failed to load resource|MissingFileError/;

/** `link` is the installed version, as in `dist/current`. */
const folder = mkdtempSync(join(tmpdir(), 'tollgate-versions-'));
const link = join(folder, 'current');

let gateway: TestGateway<Program>;
let user: DashboardClient;

before(async () => {
  symlinkSync(dirname(builtProgram()), link);
  const argv = [process.execPath, join(link, 'main.js'), 'serve'];
  gateway = await startGatewayProgram({}, { argv });
  const { program } = gateway;
  program.env = { ...program.env, PORT: new URL(program.url).port };
  user = await signIn(gateway, { role: 'owner', name: 'Ada Lovelace' });
});
after(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true });
});

const banner = (page: Page) => page.getByText('The gateway cannot be reached');
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });

test('a page that is opened while the gateway is away appears when it is back, and figures come back by themselves', async () => {
  const options = { baseUrl: gateway.url, cookie: user.cookie, ignores };
  await withPage(options, (page) =>
    withPage(options, async (keys) => {
      await page.goto('/');
      await page.getByText('Spent today').waitFor();
      await keys.goto('/keys');
      await keys.getByText('No live keys yet').waitFor();
      await gateway.program.kill();
      await page.getByRole('link', { name: 'Playground' }).click();
      await banner(page).waitFor();
      await page.getByRole('navigation', { name: 'Account' }).waitFor();
      await takePicture(page, 'connection-lost');
      await keys.getByRole('combobox', { name: 'State' }).click();
      await keys.getByRole('option', { name: 'Revoked', exact: true }).click();
      await banner(keys).waitFor();
      // A form says itself that a call has failed.
      await keys.getByRole('button', { name: 'Create key' }).first().click();
      await keys.getByRole('dialog', { name: 'Create a key' }).waitFor();
      const { x, y } = (await banner(keys).boundingBox())!;
      const top = await keys.evaluate(
        `document.elementFromPoint(${x + 5}, ${y + 5}).closest('[role=status]') === null`,
      );
      assert.ok(top, 'the banner covers the dialog');
      await keys.keyboard.press('Escape');
      await gateway.program.start();
      await heading(page, 'Playground').waitFor();
      await banner(page).waitFor({ state: 'hidden' });
      await keys.getByText('No matching keys').waitFor();
      await banner(keys).waitFor({ state: 'hidden' });
      // Figures are loaded again too.
      const asked = page.waitForResponse(/\/dashboard-api\/.*\/billing/);
      await page.getByRole('link', { name: 'Billing' }).click();
      assert.equal((await asked).status(), 200);
    }),
  );
});

test('after an update, an open page says so, and the next page is of the new version', async () => {
  await withPage({ baseUrl: gateway.url, cookie: user.cookie, ignores }, async (page) => {
    await page.goto('/');
    await page.getByText('Spent today').waitFor();
    // A part of the page that is still loading would be missing.
    await page.waitForLoadState('networkidle');
    await gateway.program.kill();
    install(newVersion());
    await page.getByRole('switch', { name: 'Test mode' }).click({ force: true });
    await banner(page).waitFor();
    await gateway.program.start();
    await page.getByText('The dashboard was updated.').waitFor();
    await takePicture(page, 'connection-updated');
    await page.getByRole('link', { name: 'Requests' }).click();
    await heading(page, 'Requests').waitFor();
    assert.equal(new URL(page.url()).pathname, '/requests');
    const scripts = await page.evaluate(
      "[...document.querySelectorAll('script[src]')].map(({ src }) => src)",
    );
    assert.match(String(scripts), /-new\.js/);
    assert.equal(await page.getByText('The dashboard was updated.').count(), 0);
  });
});

function install(version: string): void {
  rmSync(link);
  symlinkSync(version, link);
}

/** Copies the build, with other names for all files of the app. */
function newVersion(): string {
  const version = join(folder, 'new');
  const build = realpathSync(dirname(builtProgram()));
  cpSync(build, version, { recursive: true, filter: (path) => path !== join(build, 'dashboard') });
  const dashboard = join(version, 'dashboard');
  // In the build, a link to a folder that other builds share.
  cpSync(realpathSync(join(build, 'dashboard')), dashboard, { recursive: true });
  const assets = join(dashboard, 'assets');
  for (const name of readdirSync(assets)) if (/\.(?:br|gz)$/.test(name)) rmSync(join(assets, name));
  const names = readdirSync(assets).filter((name) => name.endsWith('.js'));
  const renamed = (text: string) =>
    names.reduce((all, name) => all.replaceAll(name, name.replace('.js', '-new.js')), text);
  for (const name of names) renameSync(join(assets, name), join(assets, renamed(name)));
  const files = [
    join(dashboard, 'index.html'),
    join(dashboard, 'manifest.json'),
    ...names.map((name) => join(assets, renamed(name))),
  ];
  for (const file of files) writeFileSync(file, renamed(readFileSync(file, 'utf8')));
  return version;
}
