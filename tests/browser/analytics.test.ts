// Analytics in a real browser, on both stores: every figure links to its requests.
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { after, before, test } from '../support/both-stores.ts';
import {
  checkAccessibility,
  checkLooks,
  openBrowser,
  phone,
  takePicture,
  type TestBrowser,
  untilThereAre,
} from '../support/browser.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { agents, fileOf } from '../support/agent-conversations.ts';
import { cachingProvider } from '../support/caching-provider.ts';
import { signIn, type DashboardClient } from '../support/dashboard.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { ok } from '../support/http.ts';
import type { RunningApp } from '../support/running-app.ts';
import { TestClock } from '../support/test-clock.ts';
import { until } from '../support/until.ts';

let gateway: TestGateway<RunningApp>;
let browser: TestBrowser;
let user: DashboardClient;

before(async () => {
  [gateway, browser] = await Promise.all([startGateway(), openBrowser()]);
  user = await signIn(gateway, { role: 'owner', name: 'Ada Lovelace' });
  for (const [index, name] of ['Web shop', 'Nightly batch'].entries()) {
    const made = await user.post(`/accounts/${user.account}/keys`, { mode: 'test', name });
    const { secret: key } = made.json<{ secret: string }>();
    const headers = { 'x-service-tags': `project=${['alpha', 'beta'][index]}, env=prod` };
    for (const model of ['gpt-6-luna', 'claude-haiku-4-5', 'gpt-4o']) {
      const body = { model, messages: [{ role: 'user', content: 'Hello' }], temperature: 0 };
      // The second is answered from the cache.
      for (let count = 0; count < 2; count++)
        await gateway.post('/v1/chat/completions', { key, headers, body });
    }
    const wrong = { model: 'no-such-model', messages: [{ role: 'user', content: 'Hello' }] };
    await gateway.post('/v1/chat/completions', { key, headers, body: wrong });
  }
  await until(async () => {
    await gateway.program.app.gateway.observe.activity.flush();
    return (
      await user.get(`/accounts/${user.account}/requests?mode=test&outcome=failed`)
    ).text.includes('model_not_found');
  });
});
after(() => gateway.stop());

function visit(path: string, action: (page: Page) => Promise<void>): Promise<void> {
  return browser.withPage({ baseUrl: gateway.url, cookie: user.cookie }, async (page) => {
    await page.goto(path);
    await action(page);
  });
}

const rowsOf = (page: Page, name: string) => page.getByRole('table', { name }).locator('tbody tr');

test('figures are grouped by model, key, member, provider and tag', async () => {
  await visit('/analytics?mode=test&days=7', async (page) => {
    await untilThereAre(rowsOf(page, 'By model'), 4);
    await checkLooks(page, 'analytics-model');
    for (const [group, rows] of [
      ['Key', /Web shop/],
      ['Member', /@/],
      ['Provider', /sandbox/],
      ['Tag', /env=prod/],
    ] as const) {
      await page.getByRole('radiogroup', { name: 'Group by' }).getByText(group).click();
      await rowsOf(page, `By ${group.toLowerCase()}`).filter({ hasText: rows }).first().waitFor();
      await checkAccessibility(page);
      await takePicture(page, `analytics-${group.toLowerCase()}`);
    }
    await untilThereAre(rowsOf(page, 'By tag'), 3);
    const duration = rowsOf(page, 'By tag')
      .filter({ hasText: 'env=prod' })
      .getByRole('cell')
      .last();
    assert.match(await duration.innerText(), /^\S.* \/ \S/);
  });
});

test('a tag, an error and an hour lead to their requests', async () => {
  const requests = (page: Page) => rowsOf(page, 'Requests');
  await visit('/analytics?mode=test&days=7&by=tag', async (page) => {
    await page.getByRole('link', { name: 'project=alpha' }).click();
    await page.waitForURL(/\/requests\?.*tag=project%3Dalpha/);
    // Three charged and three cached. A refused request has no tags to find it by.
    await untilThereAre(requests(page), 6);
    await page.goBack();
    await page.getByRole('list', { name: 'Errors' }).getByRole('link').click();
    await page.waitForURL(/code=model_not_found/);
    await untilThereAre(requests(page), 2);
    await page.goBack();
    await page.getByRole('region', { name: 'Hours of the week' }).getByRole('link').first().click();
    await page.waitForURL(/hour=\d+/);
    await requests(page).first().waitFor();
    await page.getByText(/day \d\d:00 UTC/).waitFor();
    await checkAccessibility(page);
  });
  await visit('/analytics?mode=test&by=member', async (page) => {
    await rowsOf(page, 'By member').getByRole('link', { name: /@/ }).click();
    await page.waitForURL(/member=/);
    await untilThereAre(requests(page), 14);
    await page.getByRole('textbox', { name: 'Tag' }).fill('project=beta');
    await page.keyboard.press('Enter');
    await page.waitForURL(/tag=project%3Dbeta/);
    await untilThereAre(requests(page), 6);
    await requests(page).first().click();
    await page.getByRole('dialog').getByRole('link', { name: 'env=prod' }).waitFor();
    await checkAccessibility(page);
  });
});

test('any days are compared with as many before', async () => {
  await visit('/analytics?mode=test&from=2020-01-01&to=2020-01-31', async (page) => {
    await page.getByText('No requests in these days').waitFor();
    await page.getByText('1 year', { exact: true }).click();
    await page.waitForURL(/days=365/);
    await untilThereAre(rowsOf(page, 'By model'), 4);
    assert.equal(new URL(page.url()).searchParams.get('from'), null);
  });
});

test('analytics fit a phone in dark mode', async () => {
  const options = { baseUrl: gateway.url, cookie: user.cookie, viewport: phone } as const;
  await browser.withPage({ ...options, colorScheme: 'dark' }, async (page) => {
    await page.goto('/analytics?mode=test&by=key');
    await page.getByRole('list', { name: 'By key' }).getByText('Web shop').waitFor();
    await checkAccessibility(page);
    await takePicture(page, 'analytics-phone');
  });
});

test('prompt caches show what was read and why the rest was not, on a phone in dark mode too', async () => {
  const clock = new TestClock();
  gateway.upstream.on('/v1/messages', cachingProvider(clock).script);
  const { account } = user;
  for (const marksCache of [true, false]) {
    const name = marksCache ? 'Marked agent' : 'Unmarked agent';
    const { key } = await gateway.makeKey({
      account,
      mode: 'live',
      creditUsd: 5,
      name,
      marksCache,
    });
    const { first, next, path } = agents.chat(`Mend the test of ${name}.`);
    let request = first;
    for (let turn = 0; turn < 4; turn++) {
      const body = { model: 'claude-sonnet-5', ...request };
      const answer = (await ok(gateway.post(path, { key, body }))).json<JsonObject>();
      request = next(request, answer, fileOf(turn));
    }
  }
  await visit('/analytics?mode=live', async (page) => {
    const groups = page.getByRole('radiogroup', { name: 'Group prompt caches by' });
    await groups.getByText('Key').click();
    const unmarked = rowsOf(page, 'Prompt caches').filter({ hasText: 'Unmarked agent' });
    await unmarked.getByText(/tokens: not marked/).waitFor();
    await page.getByText(/of the input was read from caches, which saved/).waitFor();
    await groups.getByText('Conversation').click();
    await page.getByText(/not marked, from turn 2/).waitFor();
    await checkLooks(page, 'analytics-prompt-caches');
  });
  const options = { baseUrl: gateway.url, cookie: user.cookie, viewport: phone } as const;
  await browser.withPage({ ...options, colorScheme: 'dark' }, async (page) => {
    await page.goto('/analytics?mode=live&days=365');
    await page.getByText('Choose at most 31 days to see this.').waitFor();
    await page.goto('/analytics?mode=live');
    await page.getByText(/tokens: not marked/).waitFor();
    await checkAccessibility(page);
    await takePicture(page, 'analytics-prompt-caches-phone');
  });
});

test('one click shows which key spent most last week, and the next its requests', async () => {
  const member = await signIn(gateway, { role: 'member' });
  const chat = { model: 'gpt-6-luna', messages: [{ role: 'user', content: 'Hello' }] };
  for (const [name, requests] of [
    ['Web shop', 1],
    ['Nightly batch', 3],
  ] as const) {
    const { key } = await gateway.makeKey({ account: member.account, name });
    for (let count = 0; count < requests; count++)
      await ok(gateway.post('/v1/chat/completions', { key, body: chat }));
  }
  await browser.withPage({ baseUrl: gateway.url, cookie: member.cookie }, async (page) => {
    await page.goto('/?mode=test');
    await page.getByRole('list', { name: 'Top keys' }).waitFor();
    let clicks = 0;
    const click = async (target: Locator) => {
      await target.click();
      clicks += 1;
    };
    await click(page.getByText('7 days', { exact: true }));
    await page.waitForURL(/days=7/);
    const keys = page.getByRole('list', { name: 'Top keys' }).getByRole('listitem');
    assert.match(await keys.first().innerText(), /Nightly batch/);
    assert.equal(clicks, 1);
    await click(keys.first().getByRole('link'));
    await page.waitForURL(/\/requests\?.*key=key_/);
    await untilThereAre(page.getByRole('table', { name: 'Requests' }).locator('tbody tr'), 3);
    assert.equal(clicks, 2);
  });
});
