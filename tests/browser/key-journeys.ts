// Tasks of people who manage keys, in a real browser, with the clicks that each takes.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import {
  checkAccessibility,
  checkLooks,
  phone,
  takePicture,
  withPage,
} from '../support/browser.ts';
import { signIn } from '../support/dashboard.ts';
import { endpoint } from '../support/endpoints.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { ok } from '../support/http.ts';
import type { RunningApp } from '../support/running-app.ts';
import { TestClock } from '../support/test-clock.ts';
import { until, untilNoticed } from '../support/until.ts';

const chat = endpoint('chat');

let clock: TestClock;
let gateway: TestGateway<RunningApp>;

before(async () => {
  clock = new TestClock();
  gateway = await startGateway({}, { clock });
});
after(() => gateway.stop());

test('three clicks rotate a key, and the text before works until the overlap ends', async () => {
  const owner = await signIn(gateway);
  const { key } = await gateway.makeKey({ account: owner.account, name: 'Rotated' });
  await withKeys(owner.cookie, async (page, clicks) => {
    await clicks.on(page.getByRole('button', { name: 'Actions for Rotated' }));
    await clicks.on(page.getByRole('menuitem', { name: 'Rotate' }));
    const dialog = page.getByRole('dialog', { name: /^Rotate the key/ });
    await dialog.getByRole('combobox').waitFor();
    await checkAccessibility(page);
    await takePicture(page, 'keys-rotate');
    await clicks.on(dialog.getByRole('button', { name: 'Rotate key' }));
    const secret = await page.getByRole('region', { name: 'The new key' }).innerText();
    assert.match(secret, /^tg_test_\w{38}$/);
    assert.equal(clicks.count, 3);
    await page.getByRole('button', { name: 'Done' }).click();
    for (const text of [secret, key]) await ok(ask(text));
    clock.jumpTo(clock.nowMs() + 24 * 3_600_000);
    const ended = await untilNoticed(clock, async () => {
      const reply = await ask(key);
      return reply.status !== 200 && reply;
    });
    assert.equal(ended.status, 401);
    await ok(ask(secret));
  });
});

test('an owner has a key keep bodies, and reads them at the next request', async () => {
  const owner = await signIn(gateway);
  const { account } = owner;
  const made = await gateway.makeKey({ account, name: 'Debugged' });
  const earlier = await ask(made.key);
  await withKeys(owner.cookie, async (page) => {
    await page.getByRole('button', { name: 'Debugged' }).first().click();
    const drawer = page.getByRole('dialog', { name: 'Debugged' });
    await drawer.getByText(/encrypted, up to 256 KiB of each/).waitFor();
    await drawer.getByRole('switch', { name: /^Keep request/ }).check({ force: true });
    await drawer.getByRole('combobox', { name: 'Keep them for' }).click();
    await page.getByRole('option', { name: '3 days' }).click();
    await checkAccessibility(page);
    await takePicture(page, 'keys-keep-bodies');
    await drawer.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('Keeps bodies 3 days').first().waitFor();
    await checkLooks(page, 'keys-kept-bodies');
  });
  const body = chat.body({ messages: [{ role: 'user', content: 'What is the tide?' }] });
  const kept = await untilNoticed(clock, async () => {
    const reply = await gateway.post(chat.path, { key: made.key, body });
    await gateway.program.app.gateway.observe.bodies.flush();
    const path = `/accounts/${account}/requests/${reply.requestId}/bodies`;
    return !(await owner.get(path)).text.includes('"kept":null') && reply;
  });
  const streamed = await gateway.post(chat.path, {
    key: made.key,
    body: { ...body, stream: true, user: 'ü'.repeat(200_000) },
  });
  await gateway.program.app.gateway.observe.bodies.flush();
  for (const options of [{}, { viewport: phone, colorScheme: 'dark' }] as const)
    await withPage({ baseUrl: gateway.url, cookie: owner.cookie, ...options }, async (page) => {
      const suffix = 'viewport' in options ? '-phone' : '';
      const open = async (request: string, tab: string) => {
        await page.goto(`/requests?mode=test&request=${request}`);
        await page.getByRole('dialog').getByRole('tab', { name: tab, exact: true }).click();
      };
      await open(kept.requestId, 'Request');
      const shown = page.getByRole('region', { name: 'Body of the request' });
      assert.deepEqual(JSON.parse(await shown.innerText()), body);
      await checkAccessibility(page);
      await takePicture(page, `request-body${suffix}`);
      await page.getByRole('tab', { name: 'Answer' }).click();
      const answer = page.getByRole('region', { name: 'Body of the answer' });
      assert.deepEqual(JSON.parse(await answer.innerText()), kept.json());
      await page.getByRole('button', { name: 'Copy code' }).waitFor();
      await checkAccessibility(page);
      await takePicture(page, `answer-body${suffix}`);
      await open(streamed.requestId, 'Answer');
      await answer.getByText(/^data: /).waitFor();
      await page.getByText(/, streamed · kept until/).waitFor();
      await page.getByRole('tab', { name: 'Request', exact: true }).click();
      await page.getByText(/^Cut at 256 KiB of 390\.\d KiB/).waitFor();
      await checkAccessibility(page);
      await takePicture(page, `request-body-cut${suffix}`);
      await open(earlier.requestId, 'Request');
      await page.getByText('Nothing is stored.').waitFor();
      await checkAccessibility(page);
      await takePicture(page, `request-body-none${suffix}`);
    });
  const member = await signIn(gateway, { account, role: 'member' });
  await withPage({ baseUrl: gateway.url, cookie: member.cookie }, async (page) => {
    await page.goto(`/requests?mode=test&request=${kept.requestId}`);
    await page.getByRole('dialog').getByText('Held in advance').waitFor();
    assert.equal(await page.getByRole('tab', { name: 'Answer' }).count(), 0);
  });
});

test('one click on a heading shows the key that spends most', async () => {
  const owner = await signIn(gateway);
  const keys = new Map<string, string>();
  for (const name of ['Cheap', 'Dear', 'Idle', 'Middle']) {
    keys.set(name, (await gateway.makeKey({ account: owner.account, name })).key);
    await clock.advance(1_000); // keys of the same millisecond have no order
  }
  for (const [name, model] of [
    ['Dear', 'gpt-4o'],
    ['Middle', 'gpt-6-luna'],
    ['Middle', 'gpt-6-luna'],
    ['Cheap', 'gpt-6-luna'],
  ] as const)
    await ok(ask(keys.get(name)!, model));
  await withKeys(owner.cookie, async (page, clicks) => {
    const rows = page.getByRole('table', { name: 'API keys' }).getByRole('row');
    const names = async () =>
      (await rows.allInnerTexts()).slice(1).map((text) => /^\w+/.exec(text.trim())?.[0]);
    await rows.filter({ hasText: 'Middle' }).waitFor();
    assert.deepEqual(await names(), ['Middle', 'Idle', 'Dear', 'Cheap'], 'the newest first');
    await clicks.on(page.getByRole('button', { name: 'This month' }));
    await until(async () => (await names())[0] === 'Dear');
    assert.deepEqual(await names(), ['Dear', 'Middle', 'Cheap', 'Idle']);
    assert.equal(clicks.count, 1);
    assert.equal(new URL(page.url()).searchParams.get('sort'), 'spent-this-month');
    await checkAccessibility(page);
  });
  await withPage({ baseUrl: gateway.url, cookie: owner.cookie, viewport: phone }, async (page) => {
    await page.goto('/keys?mode=test');
    await page.getByLabel('Order of API keys').selectOption('This month');
    const first = page.getByRole('list', { name: 'API keys' }).getByRole('listitem').first();
    await first.filter({ hasText: 'Dear' }).waitFor();
    assert.equal(await page.getByRole('combobox', { name: /order/i }).count(), 1);
    assert.equal(await page.getByLabel('Order', { exact: true }).count(), 0);
  });
});

/** Counts the clicks of a journey. */
class Clicks {
  count = 0;

  async on(target: Locator): Promise<void> {
    this.count += 1;
    await target.click();
  }
}

async function withKeys(
  cookie: string,
  visit: (page: Page, clicks: Clicks) => Promise<void>,
): Promise<void> {
  await withPage({ baseUrl: gateway.url, cookie }, async (page) => {
    await page.goto('/keys?mode=test');
    await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
    await visit(page, new Clicks());
  });
}

function ask(key: string, model = 'gpt-6-luna') {
  return gateway.post(chat.path, { key, body: chat.body({ model }) });
}
