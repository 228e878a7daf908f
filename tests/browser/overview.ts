// The overview in a real browser: the first request of a new account, and the figures after it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { checkAccessibility, phone, takePicture, withPage } from '../support/browser.ts';
import { signIn } from '../support/dashboard.ts';
import { endpoint } from '../support/endpoints.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { ok } from '../support/http.ts';
import type { RunningApp } from '../support/running-app.ts';
import { until } from '../support/until.ts';

const chat = endpoint('chat');

let gateway: TestGateway<RunningApp>;

before(async () => {
  gateway = await startGateway();
});
after(() => gateway.stop());

test('a new user creates a key, reads the request as code, sends it and sees the answer and its cost', async () => {
  const owner = await signIn(gateway, { role: 'owner', name: 'Ada Lovelace' });
  await withPage({ baseUrl: gateway.url, cookie: owner.cookie }, async (page) => {
    await page.goto('/');
    await page.getByRole('button', { name: 'Try it in test mode' }).click();
    await page.getByRole('button', { name: 'Create a test key' }).click();
    const secret = await page.getByRole('region', { name: 'Your new key' }).innerText();
    assert.match(secret, /^tg_test_\w{38}$/);
    for (const [tab, label] of [
      ['curl', 'With curl'],
      ['Python', 'With Python'],
      ['JavaScript', 'With JavaScript or TypeScript'],
      ['Go', 'With Go'],
    ] as const) {
      await page.getByRole('tab', { name: tab }).click();
      const code = await page.getByRole('region', { name: label }).innerText();
      assert.ok(code.includes(`${gateway.url}/v1`) && code.includes(secret), tab);
    }
    await checkAccessibility(page);
    await page.getByRole('button', { name: 'Send the request' }).click();
    await page.getByText('This is the sandbox').waitFor();
    await page.getByText('Cost $').waitFor();
    await page.getByRole('figure', { name: 'Cost by day' }).waitFor();
    await checkAccessibility(page);
    await takePicture(page, 'overview-first-run');
    await ok(gateway.post(chat.path, { key: secret, body: chat.body() }));

    // After the first request, the first steps are gone.
    await page.reload();
    await page.getByRole('heading', { name: 'Cost by day' }).waitFor();
    assert.equal(await page.getByText('Send your first request').count(), 0);
    await page.getByRole('list', { name: 'Top keys' }).getByText('First test key').waitFor();
    await page.getByRole('list', { name: 'Top models' }).getByRole('link').first().waitFor();
  });
});

test('a page that stays open follows the days', async () => {
  const owner = await signIn(gateway, { role: 'owner' });
  await withPage({ baseUrl: gateway.url, cookie: owner.cookie }, async (first) => {
    // The clock is the whole profile's: one with a second page is not used again.
    const page = await first.context().newPage();
    await page.clock.install();
    await page.goto('/analytics');
    const now = Date.parse(await page.evaluate('new Date().toISOString()'));
    const endingOn = (ms: number) => `input[value$="${new Date(ms).toISOString().slice(0, 10)}"]`;
    await page.locator(endingOn(now)).waitFor({ state: 'attached' });
    await page.clock.fastForward('24:00:00');
    await page.locator(endingOn(now + 86_400_000)).waitFor({ state: 'attached' });
  });
});

test('recent errors are shown, also on a phone in dark mode', async () => {
  const member = await signIn(gateway, { role: 'member' });
  const { key } = await gateway.makeKey({ account: member.account });
  await ok(gateway.post(chat.path, { key, body: chat.body() }));
  assert.equal(
    (await gateway.post(chat.path, { key, body: chat.body({ model: 'no-such-model' }) })).status,
    404,
  );
  // Refusals are counted in memory before they are written.
  await until(async () => {
    await gateway.program.app.gateway.observe.activity.flush();
    return (
      await member.get(`/accounts/${member.account}/requests?mode=test&outcome=failed`)
    ).text.includes('model_not_found');
  });
  const options = {
    baseUrl: gateway.url,
    cookie: member.cookie,
    viewport: phone,
    colorScheme: 'dark',
  } as const;
  await withPage(options, async (page) => {
    await page.goto('/?mode=test');
    await page.getByRole('link', { name: 'model_not_found' }).waitFor();
    await checkAccessibility(page);
    await takePicture(page, 'overview-phone');
  });
});

test('the pages of a frozen account say that new requests are refused', async () => {
  const member = await signIn(gateway, { role: 'member' });
  const operator = await signIn(gateway, { operator: true });
  await withPage({ baseUrl: gateway.url, cookie: member.cookie }, async (page) => {
    const notice = page.getByRole('alert', { name: 'This account is frozen' });
    await page.goto('/');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    assert.equal(await notice.count(), 0);
    await ok(operator.patch(`/operator/accounts/${member.account}`, { frozen: true }));
    for (const path of ['/', '/keys', '/playground']) {
      await page.goto(path);
      await notice.waitFor();
    }
    await checkAccessibility(page);
    await takePicture(page, 'frozen-account');
  });
});
