// The dashboard's shell in a real browser: access to pages, navigation, and the size of the first
// page.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { addMember } from '../../src/domain/users/members.ts';
import { openAccount } from '../../src/management/changes/accounts.ts';
import { checkAccessibility, phone, settle, takePicture, withPage } from '../support/browser.ts';
import { signIn, type DashboardClient } from '../support/dashboard.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { rowOf } from '../support/rows.ts';

let gateway: TestGateway;
let owner: DashboardClient;
let operator: DashboardClient;

before(async () => {
  gateway = await startGateway();
  owner = await signIn(gateway, { role: 'owner', name: 'Ada Lovelace' });
  operator = await signIn(gateway, { role: null, operator: true, name: 'Grace Hopper' });
});
after(() => gateway.stop());

const accountPages = 'Overview Keys Requests Models Playground Billing Settings'.split(' ');
const operatorPages = [
  'Accounts',
  'All keys',
  'Admin keys',
  'Users',
  'Payments',
  'Providers',
  'Catalogue',
  'Configuration',
  'Audit log',
];

function heading(page: Page, name: string) {
  return page.getByRole('heading', { level: 1, name, exact: true });
}

test('a visitor has to sign in and then lands on the requested page', async () => {
  await withPage({ baseUrl: gateway.url }, async (page) => {
    await page.goto('/requests?mode=test');
    await heading(page, 'Sign in').waitFor();
    assert.equal(new URL(page.url()).searchParams.get('next'), '/requests?mode=test');
    await checkAccessibility(page);
    await page.context().addCookies([
      {
        name: owner.cookie.split('=')[0]!,
        value: owner.cookie.split(/=(.*)/s)[1]!,
        url: gateway.url,
      },
    ]);
    await page.reload();
    await heading(page, 'Requests').waitFor();
  });
});

test('an owner sees the pages of their account and no operator pages', async () => {
  await withPage({ baseUrl: gateway.url, cookie: owner.cookie }, async (page) => {
    await page.goto('/');
    for (const name of accountPages) {
      await page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
      await heading(page, name).waitFor();
      assert.match(await page.title(), new RegExp(`^${name} · `));
      // The other pages have their own accessibility checks.
      if (name === 'Models' || name === 'Settings') await checkAccessibility(page);
    }
    assert.equal(await page.getByRole('navigation', { name: 'Operator' }).count(), 0);
    await page.goto('/operator/accounts');
    await heading(page, 'Page not found').waitFor();
  });
});

test('an operator without an account sees the operator pages and why there are no others', async () => {
  await withPage({ baseUrl: gateway.url, cookie: operator.cookie }, async (page) => {
    await page.goto('/');
    await page.getByText('You are not a member of any account').waitFor();
    await checkAccessibility(page);
    for (const name of operatorPages) {
      await page
        .getByRole('navigation', { name: 'Operator' })
        .getByRole('link', { name, exact: true })
        .click();
      await heading(page, name).waitFor();
    }
  });
});

test('a link to another account says that the user has no access', async () => {
  await withPage({ baseUrl: gateway.url, cookie: owner.cookie }, async (page) => {
    await page.goto('/keys?account=acc_of_others');
    await page.getByText('You have no access to this account').waitFor();
    await checkAccessibility(page);
  });
});

test('a choice of an account in another tab leaves the page in its own', async () => {
  const { userId, account, cookie } = await signIn(gateway);
  const nowMs = gateway.program.clock.nowMs() + 1;
  const { id: other } = await openAccount(gateway.database.write, { name: 'Other' }, nowMs);
  const member = { accountId: other, userId, role: 'owner' } as const;
  await addMember(gateway.database.write, member, nowMs);
  await withPage({ baseUrl: gateway.url, cookie }, async (page) => {
    await page.goto('/keys');
    await page.getByRole('button', { name: 'Create key' }).first().click();
    const form = page.getByRole('dialog', { name: 'Create a key' });
    await form.getByLabel('Name').fill('Backend');
    await page.evaluate((id) => localStorage.setItem('tollgate.account', id), other);
    await form.getByRole('button', { name: 'Create key' }).click();
    await page.getByText('Key “Backend” created').waitFor();
    const { account_id: of } = await rowOf(gateway.database, 'api_keys', { name: 'Backend' });
    assert.equal(of, account);
    await page.goto('/keys');
    await page.getByText('No live keys yet').waitFor();
  });
});

test('pages can be reached with the keyboard alone', async () => {
  await withPage({ baseUrl: gateway.url, cookie: owner.cookie }, async (page) => {
    await page.goto('/');
    await heading(page, 'Overview').waitFor();
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Skip to content');
    await page.keyboard.press('Control+K');
    const box = page.getByRole('dialog', { name: 'Search' });
    await box.waitFor();
    await checkAccessibility(page);
    await page.keyboard.type('invite');
    await page.keyboard.press('Enter');
    await heading(page, 'Settings').waitFor();
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'page');
    const link = page.getByRole('navigation').getByRole('link', { name: 'Billing' });
    await link.focus();
    await page.keyboard.press('Enter');
    await heading(page, 'Billing').waitFor();
  });
});

test('test mode stays on from page to page and is part of the address', async () => {
  await withPage({ baseUrl: gateway.url, cookie: owner.cookie }, async (page) => {
    await page.goto('/keys');
    await heading(page, 'Keys').waitFor();
    await page.getByRole('switch', { name: 'Test mode' }).check();
    await page.getByRole('note').filter({ hasText: 'Test mode' }).waitFor();
    await page.getByRole('link', { name: 'Requests', exact: true }).click();
    await heading(page, 'Requests').waitFor();
    assert.equal(new URL(page.url()).searchParams.get('mode'), 'test');
    await page.getByRole('switch', { name: 'Test mode' }).uncheck();
    await page.waitForURL((url) => !url.searchParams.has('mode'));
  });
});

test('the colour scheme follows the system until the user chooses one, and the choice is remembered', async () => {
  for (const colorScheme of ['light', 'dark'] as const) {
    await withPage({ baseUrl: gateway.url, cookie: owner.cookie, colorScheme }, async (page) => {
      await page.goto('/');
      await heading(page, 'Overview').waitFor();
      assert.equal(await schemeOf(page), colorScheme);
      await checkAccessibility(page);
      await takePicture(page, `shell-${colorScheme}`);
      const other = colorScheme === 'dark' ? 'light' : 'dark';
      await page.getByRole('button', { name: 'User menu: Ada Lovelace' }).click();
      await page.getByRole('menuitem', { name: other === 'dark' ? 'Dark' : 'Light' }).click();
      assert.equal(await schemeOf(page), other);
      await page.reload();
      await heading(page, 'Overview').waitFor();
      assert.equal(await schemeOf(page), other);
    });
  }
});

/** Reads the painted background instead of an attribute, because the paint is what users see. */
async function schemeOf(page: Page): Promise<'light' | 'dark'> {
  const channels = await page.evaluate(
    () => /\d+/.exec(getComputedStyle(document.body).backgroundColor)?.[0],
  );
  return Number(channels) > 127 ? 'light' : 'dark';
}

test('on a phone, nothing is wider than the screen, and the navigation opens and closes', async () => {
  await withPage({ baseUrl: gateway.url, cookie: owner.cookie, viewport: phone }, async (page) => {
    await page.goto('/?mode=test');
    await heading(page, 'Overview').waitFor();
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= phone.width);
    assert.equal(await page.getByRole('link', { name: 'Keys', exact: true }).count(), 0);
    await page.getByRole('button', { name: 'Navigation', exact: true }).click();
    await checkAccessibility(page);
    await takePicture(page, 'shell-phone-navigation');
    await page.getByRole('link', { name: 'Keys', exact: true }).click();
    await heading(page, 'Keys').waitFor();
    await page.getByRole('link', { name: 'Keys', exact: true }).waitFor({ state: 'hidden' });
    await takePicture(page, 'shell-phone');
  });
});

test('the navigation folds to icons with tooltips, by its button and by keyboard, and the browser keeps it', async () => {
  await withPage({ baseUrl: gateway.url, cookie: owner.cookie }, async (page) => {
    await page.goto('/');
    await heading(page, 'Overview').waitFor();
    const navigation = page.getByRole('navigation', { name: 'Account' });
    const widthOf = async () => (await navigation.boundingBox())!.width;
    assert.ok((await widthOf()) > 200);
    await page.getByRole('button', { name: 'Fold navigation' }).click();
    await page.getByRole('button', { name: 'Unfold navigation' }).waitFor();
    assert.ok((await widthOf()) < 64);
    await checkAccessibility(page);
    await page.reload();
    await heading(page, 'Overview').waitFor();
    assert.ok((await widthOf()) < 64, 'the browser forgot the choice');
    await navigation.getByRole('link', { name: 'Billing' }).focus();
    await page.getByRole('tooltip', { name: 'Billing' }).waitFor();
    await page.keyboard.press('Control+B');
    await page.getByRole('button', { name: 'Fold navigation' }).waitFor();
    assert.ok((await widthOf()) > 200);
  });
});

test('on a tablet, the navigation is folded, and opens over the page until the next one', async () => {
  const viewport = { width: 760, height: 1000 };
  await withPage({ baseUrl: gateway.url, cookie: owner.cookie, viewport }, async (page) => {
    await page.goto('/');
    await heading(page, 'Overview').waitFor();
    const widthOf = async (part: string) => (await page.locator(part).boundingBox())!.width;
    const pageWidth = await widthOf('#page');
    assert.ok(pageWidth > 690);
    for (const close of ['Escape', 'link', 'outside']) {
      await page.getByRole('button', { name: 'Unfold navigation' }).click();
      await page.getByRole('button', { name: 'Fold navigation' }).waitFor();
      assert.equal(await widthOf('#page'), pageWidth);
      if (close === 'Escape') await page.keyboard.press('Escape');
      if (close === 'outside') await page.mouse.click(700, 900);
      if (close === 'link') await page.getByRole('link', { name: 'Keys', exact: true }).click();
      await page.getByRole('button', { name: 'Unfold navigation' }).waitFor();
    }
    await heading(page, 'Keys').waitFor();
  });
});

test('signing out ends the session and hides its pages', async () => {
  const leaver = await signIn(gateway, { role: 'member', name: 'Alan Turing' });
  await withPage({ baseUrl: gateway.url, cookie: leaver.cookie }, async (page) => {
    await page.goto('/');
    await page.getByRole('button', { name: 'User menu: Alan Turing' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await heading(page, 'Sign in').waitFor();
    assert.equal((await leaver.get(`/accounts/${leaver.account}/members`)).status, 401);
    await page.goto('/keys');
    await heading(page, 'Sign in').waitFor();
  });
});

test('signing out ends every tab of the browser', async () => {
  const leaver = await signIn(gateway, { role: 'owner', name: 'Alan Turing' });
  await withPage({ baseUrl: gateway.url, cookie: leaver.cookie }, async (page) => {
    await page.goto('/');
    const other = await page.context().newPage();
    await other.goto('/settings?tab=changes');
    await other.getByRole('tab', { name: 'Audit log', selected: true }).waitFor();
    await checkAccessibility(other);
    await page.getByRole('button', { name: 'User menu: Alan Turing' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await heading(other, 'Sign in').waitFor();
  });
});

test('an unknown address shows an error page, in the usual frame', async () => {
  for (const cookie of [undefined, owner.cookie]) {
    await withPage({ baseUrl: gateway.url, ...(cookie && { cookie }) }, async (page) => {
      await page.goto('/no/such/page');
      await page.getByRole('main').getByRole('heading', { name: 'Page not found' }).waitFor();
      const search = page.getByRole('button', { name: 'Search' });
      assert.equal(await search.count(), cookie === undefined ? 0 : 1);
      await checkAccessibility(page);
    });
  }
});

/** Checks the checks of `withPage`: they must be able to fail. */
test('page errors and requests to other origins fail a test', async () => {
  const visit = withPage({ baseUrl: gateway.url }, async (page) => {
    await page.goto('/sign-in');
    await heading(page, 'Sign in').waitFor();
    await page.evaluate(() => {
      console.error('broken');
      setTimeout(() => {
        throw new Error('thrown late');
      });
      fetch('http://127.0.0.1:9/').catch(() => {});
      document.body.insertAdjacentHTML('beforeend', '<p style="color: red">x</p>');
    });
    await settle(page);
  });
  await assert.rejects(visit, ({ message }: Error) => {
    const faults = [
      /console: broken/,
      /thrown: Error: thrown late/,
      /127\.0\.0\.1:9/,
      /inline style.*content security policy/i,
    ];
    for (const fault of faults) assert.match(message, fault);
    return true;
  });
});

test('the first figures are requested once, before the app asks for them', async () => {
  await withPage({ baseUrl: gateway.url, cookie: owner.cookie }, async (page) => {
    const asked: string[] = [];
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (/\/(?:session|overview|assets\/index-.*)$/.test(pathname)) asked.push(pathname);
    });
    await page.goto('/?mode=test');
    await page.getByText('Spent today').waitFor();
    await settle(page);
    const countOf = (end: string) => asked.filter((path) => path.endsWith(end)).length;
    assert.equal(countOf('/overview'), 1, asked.join());
    // The browser reports the preload and its use as one request or as two.
    assert.ok(countOf('/session') <= 2, asked.join());
  });
});

type Chunk = {
  readonly file: string;
  readonly css?: readonly string[];
  readonly imports?: readonly string[];
};

test('the first page is smaller than 300 kB compressed', () => {
  const folder = join(import.meta.dirname, '..', '..', 'dist', 'current', 'dashboard');
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Readonly<
    Record<string, Chunk>
  >;
  for (const start of ['pages/overview/page.tsx', 'pages/sign-in/page.tsx']) {
    const files = new Set<string>();
    const add = (name: string) => {
      const { file, css = [], imports = [] } = manifest[name]!;
      if (files.has(file)) return;
      for (const each of [file, ...css]) files.add(each);
      imports.forEach(add);
    };
    ['index.html', start].forEach(add);
    const bytes = [...files].reduce(
      (sum, file) => sum + gzipSync(readFileSync(join(folder, file)), { level: 9 }).length,
      0,
    );
    assert.ok(bytes < 300_000, `${start} loads ${bytes} bytes, in ${[...files].join(', ')}`);
  }
});
