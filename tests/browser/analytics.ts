// Analytics in a real browser: every figure links to its requests.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import {
  checkAccessibility,
  checkLooks,
  phone,
  takePicture,
  untilThereAre,
  visitsOf,
  withPage,
} from '../support/browser.ts';
import { usdText } from '../../dashboard/parts/money-text.ts';
import type { AnalyticsDays } from '../../src/management/contract/analytics.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { agents, fileOf } from '../support/agent-conversations.ts';
import { cachingProvider } from '../support/caching-provider.ts';
import { signIn, type DashboardClient } from '../support/dashboard.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { ok } from '../support/http.ts';
import type { RunningApp } from '../support/running-app.ts';
import { TestClock } from '../support/test-clock.ts';
import { until } from '../support/until.ts';

const dayMs = 86_400_000;
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

let gateway: TestGateway<RunningApp>;
let user: DashboardClient;
/** A user who sent requests on each of four days, the last of them today. */
let regular: DashboardClient;
let days: readonly string[];

before(async () => {
  const nowMs = Date.now();
  days = [3, 2, 1, 0].map((ago) => dayOf(nowMs - ago * dayMs));
  const clock = new TestClock(nowMs - 3 * dayMs);
  gateway = await startGateway({}, { clock });
  regular = await signIn(gateway, { role: 'owner' });
  for (const [index, requests] of [1, 2, 4, 3].entries()) {
    clock.jumpTo(nowMs - (3 - index) * dayMs);
    await spend(requests, index - 1);
  }
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

/** Sends requests of two models and tags, and some that are refused. */
async function spend(requests: number, refused: number): Promise<void> {
  const { key } = await gateway.makeKey({ account: regular.account });
  const messages = [{ role: 'user', content: 'Hello' }];
  for (let count = 0; count < requests; count++) {
    const model = ['gpt-6-luna', 'claude-haiku-4-5'][count % 2];
    const headers = { 'x-service-tags': `project=${['alpha', 'beta'][count % 2]}, env=prod` };
    await ok(gateway.post('/v1/chat/completions', { key, headers, body: { model, messages } }));
  }
  for (let count = 0; count < refused; count++)
    await gateway.post('/v1/chat/completions', { key, body: { model: 'none', messages } });
  await gateway.program.app.gateway.observe.activity.flush();
}

async function byDay(from: string, to: string): Promise<AnalyticsDays> {
  const path = `/accounts/${regular.account}/analytics/days?mode=test&from=${from}&to=${to}`;
  return (await ok(regular.get(path))).json<AnalyticsDays>();
}

const visitCharts = visitsOf(() => ({ gateway, user: regular }));

const costChart = (page: Page) => page.getByRole('figure', { name: 'Cost by day' });

/** Moves the mouse over a chart: 0 is its left edge, and 1 its right edge. */
async function pointAt(page: Page, chart: Locator, share: number): Promise<void> {
  const plot = chart.getByRole('group');
  await plot.scrollIntoViewIfNeeded();
  const box = (await plot.boundingBox())!;
  await page.mouse.move(box.x + share * box.width, box.y + box.height / 2, { steps: 4 });
}

const visit = visitsOf(() => ({ gateway, user }));

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

test('a chart shows the days before, dashed, if charges began before them', async () => {
  const [, , from, to] = days;
  const { before: earlier } = await byDay(from!, to!);
  await visitCharts(`/analytics?mode=test&from=${from}&to=${to}`, async (page) => {
    const chart = costChart(page);
    await chart.getByRole('list').getByText('Cost before').waitFor();
    // The list is there before the lines, which are drawn once the chart's width is known.
    await untilThereAre(chart.getByRole('group').locator('path[stroke-dasharray]'), 1);
    await pointAt(page, chart, 0.3);
    const line = chart.getByRole('status').getByText(/^Cost before, /);
    assert.match(await line.innerText(), new RegExp(`\\b${Number(days[0]!.slice(8))}\\b`));
    assert.equal(
      await line.locator('xpath=following-sibling::span').innerText(),
      usdText(earlier[0]!.cost_micros),
    );
    await checkLooks(page, 'charts');
  });
  await visitCharts(`/analytics?mode=test&from=${days[1]}&to=${to}`, async (page) => {
    await costChart(page).getByRole('list').waitFor();
    assert.equal(await page.getByText('Cost before').count(), 0);
    await page
      .getByText(/^First charge on /)
      .first()
      .waitFor();
  });
});

test('the tooltip of a stacked chart has a total, and the table has the same figures', async () => {
  const { now } = await byDay(days[2]!, days[3]!);
  const total = usdText(now[1]!.cost_micros);
  await visitCharts(`/analytics?mode=test&from=${days[2]}&to=${days[3]}&by=tag`, async (page) => {
    const chart = costChart(page);
    const figures = chart.getByRole('status');
    await page.getByRole('combobox', { name: 'Tag name' }).click();
    await page.getByRole('option', { name: 'project' }).click();
    await chart.getByRole('list').getByText('alpha', { exact: true }).waitFor();
    await pointAt(page, chart, 0.9);
    await figures.getByText('beta', { exact: true }).waitFor();
    assert.match(await figures.innerText(), new RegExp(`Total\\s+\\${total}`));
    // The keyboard shows the same.
    await page.mouse.move(0, 0);
    await chart.getByRole('group').focus();
    await page.keyboard.press('ArrowLeft');
    assert.match(await figures.innerText(), new RegExp(`Total\\s+\\${total}`));
    await checkAccessibility(page);
    await chart.getByRole('button', { name: 'Table' }).click();
    const row = chart.getByRole('row').last();
    assert.equal(await row.getByRole('cell').nth(2).innerText(), total);
    await checkAccessibility(page);
  });
});

test('a drag over a chart zooms into its days, Enter into the hours of one, and a button leads back', async () => {
  const range = (page: Page) => {
    const { searchParams } = new URL(page.url());
    return [searchParams.get('days'), searchParams.get('from'), searchParams.get('to')];
  };
  await visitCharts('/analytics?mode=test&days=7', async (page) => {
    const chart = costChart(page);
    const drag = async (from: number, to: number) => {
      await pointAt(page, chart, from);
      await page.mouse.down();
      await pointAt(page, chart, to);
      await page.mouse.up();
    };
    const charted = chart.locator('svg > text');
    await untilThereAre(charted, 7);
    await drag(0.7, 0.97);
    await page.waitForURL(/from=/);
    assert.deepEqual(range(page), [null, days[1], days[3]]);
    await untilThereAre(charted, 3);
    await drag(0.5, 0.97);
    await page.waitForURL(new RegExp(`from=${days[2]}`));
    await chart.getByRole('button', { name: 'Zoom out' }).click();
    await page.waitForURL(/days=7/);
    assert.deepEqual(range(page), ['7', null, null]);
    // Days that come during a drag end it.
    await untilThereAre(charted, 7);
    await pointAt(page, chart, 0.3);
    await page.mouse.down();
    await pointAt(page, chart, 0.97);
    await page.goBack();
    await untilThereAre(charted, 3);
    await page.mouse.up();
    assert.deepEqual(range(page), [null, days[1], days[3]]);
    await page.goForward();
    await untilThereAre(charted, 7);
    // A click alone does not zoom.
    await pointAt(page, chart, 0.9);
    await page.mouse.down();
    await page.mouse.up();
    await chart.getByRole('group').focus();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await page.getByRole('figure', { name: 'Cost by hour' }).waitFor();
    const durations = page.getByRole('figure', { name: 'Duration by hour' });
    await durations.getByRole('button', { name: 'Table' }).click();
    assert.equal(await durations.getByRole('row').count(), 25);
    const measured = durations.getByRole('row').filter({ hasText: / ms| s/ });
    assert.ok((await measured.count()) > 0);
    await durations.getByRole('button', { name: 'Table' }).click();
    assert.deepEqual(range(page), [null, days[3], days[3]]);
    await checkLooks(page, 'charts-hours');
    await page.goBack();
    await chart.waitFor();
    assert.deepEqual(range(page), ['7', null, null]);
  });
});

test('more errors are worse, and a cost is neither', async () => {
  const changeOf = (page: Page, label: string) =>
    page.getByText(label, { exact: true }).first().locator('xpath=..').innerText();
  await visitCharts(`/analytics?mode=test&from=${days[3]}&to=${days[3]}`, async (page) => {
    await page.getByText('from 1 before').waitFor();
    assert.match(await changeOf(page, 'Errors'), /\+100%\s*, worse/);
    assert.match(await changeOf(page, 'Cost'), /−\d+% from/);
    await checkAccessibility(page);
  });
});

test('lists show the cost of each day as a line', async () => {
  await visitCharts('/keys?mode=test', async (page) => {
    const lines = page.getByRole('img', { name: /^Cost by day: first \$0\.00, last \$/ });
    await lines.first().waitFor();
    await checkLooks(page, 'charts-keys');
    await page.goto('/?mode=test&days=7');
    await page.getByRole('list', { name: 'Top models' }).getByRole('img').first().waitFor();
    await costChart(page).waitFor();
    await checkLooks(page, 'charts-overview');
    await page.goto('/analytics?mode=test&days=7');
    await page.getByRole('table', { name: 'By model' }).getByRole('img').first().waitFor();
  });
});

test('a finger that moves up over a chart scrolls the page, and one that moves aside zooms', async () => {
  await visitCharts(
    '/analytics?mode=test',
    async (page) => {
      const plot = costChart(page).getByRole('group');
      await plot.scrollIntoViewIfNeeded();
      const { width, height } = (await plot.boundingBox())!;
      const protocol = await page.context().newCDPSession(page);
      const touch = async (places: readonly (readonly [number, number])[]) => {
        const { x, y } = (await plot.boundingBox())!;
        const send = (type: 'touchStart' | 'touchMove' | 'touchEnd', touchPoints: object[]) =>
          protocol.send('Input.dispatchTouchEvent', { type, touchPoints } as never);
        for (const [index, [right, down]] of places.entries())
          await send(index === 0 ? 'touchStart' : 'touchMove', [{ x: x + right, y: y + down }]);
        await send('touchEnd', []);
      };
      const scrolled = async () => Number(await page.evaluate('scrollY'));
      const scrolledBefore = await scrolled();
      const moves = [0, 20, 40, 60, 80, 100, 120];
      await touch(moves.map((moved) => [width / 2, height - 20 - moved]));
      await until(async () => (await scrolled()) > scrolledBefore);
      assert.equal(new URL(page.url()).searchParams.get('from'), null);
      await touch(moves.map((moved) => [width - 15 - moved, height / 2]));
      await page.waitForURL(new RegExp(`from=.*to=${days[3]}`));
    },
    { viewport: phone },
  );
});

test('analytics fit a phone in dark mode', async () => {
  const options = { baseUrl: gateway.url, cookie: user.cookie, viewport: phone } as const;
  await withPage({ ...options, colorScheme: 'dark' }, async (page) => {
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
    const { key } = await gateway.makeKey({ account, creditUsd: 5, name, marksCache });
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
  await withPage({ ...options, colorScheme: 'dark' }, async (page) => {
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
  await withPage({ baseUrl: gateway.url, cookie: member.cookie }, async (page) => {
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
