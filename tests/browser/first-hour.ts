// The first hour of an operator: from the printed link to a charged live request, without a file.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { answerContent } from '../support/answers.ts';
import {
  checkLooks,
  confirmIdentity,
  countClicks,
  unconfirmed,
  withPage,
} from '../support/browser.ts';
import { TestGateway } from '../support/gateway.ts';
import { rowsOf } from '../support/rows.ts';
import { startRunningApp, type RunningApp } from '../support/running-app.ts';
import { startUpstream } from '../support/upstream.ts';

const password = 'correct horse battery';
const clicksMax = 12;

let gateway: TestGateway<RunningApp>;

before(async () => {
  // Without any provider, as `startGateway` has them.
  const [program, upstream] = await Promise.all([startRunningApp(), startUpstream()]);
  gateway = new TestGateway(program, upstream);
  upstream.on(
    '/v1/chat/completions',
    answerContent('chat', { text: 'Hello there', tokens: { input: 30, output: 5 } }),
  );
});
after(() => gateway.stop());

test(`a charged live request is at most ${clicksMax} clicks from the printed link`, async () => {
  const options = { baseUrl: gateway.url, ignores: unconfirmed };
  await withPage(options, async (page) => {
    await page.goto(`/first-run?token=${gateway.program.firstRunToken}`);
    const field = (name: string) => page.getByRole('textbox', { name });
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
    // Entering the dashboard loads it afresh, which ends a count.
    const signingUp = await countClicks(page);
    await field('Your name').fill('Grace Hopper');
    await field('E-mail').fill('grace@example.com');
    await field('Password').fill(password);
    await field('Name of the first account').fill('Acme');
    const filledIn = (await signingUp()) + 1;
    await press('Create user');
    await page.getByRole('heading', { name: 'Set up your gateway' }).waitFor();
    assert.deepEqual(
      (await rowsOf(gateway.database, 'accounts')).map(({ name }) => name),
      ['Acme'],
    );
    await page.getByText('0 of 8 steps done').waitFor();
    await checkLooks(page, 'first-hour');

    const clicks = await countClicks(page);
    await page.getByRole('combobox', { name: 'Provider' }).or(field('Provider')).first().click();
    await page.getByRole('option', { name: /^groq/ }).click();
    await field('Key').fill('gsk_of_the_operator');
    await field('Address').fill(`${gateway.upstream.url}/v1`);
    await press('Switch on');
    await confirmIdentity(page, password);
    await press('Create key');
    await page.getByRole('region', { name: 'Your new key' }).waitFor();
    await press('Add credit');
    await press('Send the request');
    await page.getByText('Hello there').waitFor();
    await page.getByText('4 of 8 steps done').waitFor();
    const total = filledIn + (await clicks());
    assert.ok(total <= clicksMax, `${total} clicks`);
    await checkLooks(page, 'first-hour-charged');

    const [charge] = await rowsOf(gateway.database, 'charges');
    assert.equal(charge!.provider, 'groq');
    assert.ok(Number(charge!.cost_micros) > 0);
    const keys = await rowsOf(gateway.database, 'api_keys', { mode: 'live' });
    assert.deepEqual(
      keys.map(({ monthly_cap_micros: cap }) => cap),
      [10_000_000],
    );

    // What remains may be hidden, and stays so.
    await press('Hide');
    await page.reload();
    await page.getByText('What to do next').waitFor();
    assert.equal(await page.getByText('Set up your gateway').count(), 0);
  });
});
