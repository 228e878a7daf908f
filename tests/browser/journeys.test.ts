// What people come for, from its beginning to its end, in a real browser against the started program.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../support/browser.ts';
import { signIn } from '../support/dashboard.ts';
import { endpoints } from '../support/endpoints.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

type ApiRecord = {
  readonly created_at: string;
  readonly request_id: string;
  readonly model: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_cents: number;
  readonly images?: number;
  readonly web_searches?: number;
};

const password = 'correct horse battery';

let gateway: TestGateway;
let browser: TestBrowser;

before(async () => {
  [gateway, browser] = await Promise.all([startGateway(), openBrowser()]);
});
after(async () => {
  await browser.close();
  await gateway.stop();
});

test('from the printed link to the first answer, which usage shows with its id and its cost', async () => {
  const link = /http:\S+\/first-run\?token=[\w-]+/.exec(gateway.program.output)![0];
  await browser.withPage({ baseUrl: gateway.url, ignores: /status of 404/ }, async (page) => {
    await page.goto(link);
    await fillIn(page, { 'Your name': 'Ada Lovelace', 'E-mail': 'ada@example.com', Password: password });
    await page.getByRole('button', { name: 'Create your user' }).click();

    // The first start has made a key and told it in the terminal; this one is told here.
    await page.getByRole('button', { name: 'Create another' }).click();
    const secret = await page.getByRole('region', { name: 'Your new key' }).innerText();
    const answering = page.waitForResponse((response) => response.url().endsWith('/v1/chat/completions'));
    await page.getByRole('button', { name: 'Send the request' }).click();
    const requestId = (await answering).headers()['x-request-id']!;
    await page.getByText('This is the sandbox').waitFor();
    const cost = /^Cost (\$[\d.]+)/.exec(await page.getByText('Cost $').innerText())![1]!;
    assert.deepEqual(
      (await apiRecords(secret)).map((record) => [record.request_id, microsOf(record)]),
      [[requestId, Math.round(Number(cost.slice(1)) * 1_000_000)]],
    );

    await page.getByRole('link', { name: 'see it in usage' }).click();
    const row = page.getByRole('table', { name: 'Requests' }).getByRole('row', { name: 'First test key' });
    await row.getByText(cost, { exact: true }).waitFor();
    await row.getByRole('button').click();
    const detail = page.getByRole('dialog', { name: 'Request' });
    await detail.getByText(requestId, { exact: true }).waitFor();
    await detail.getByRole('row', { name: `Charged ${cost}` }).waitFor();

    await page.goto(link);
    await page.getByRole('heading', { name: 'This link has ended' }).waitFor();
  });
});

test('the file that usage gives has the records of the API, row by row', async () => {
  const member = await signIn(gateway, { role: 'member' });
  const { account } = member;
  const { key } = await gateway.makeKey({ account, name: 'Backend' });
  const other = await gateway.makeKey({ account, name: 'Batch' });
  const requests = [
    ...endpoints.flatMap(({ path, body }) => [false, true].map((stream) => ({ path, key, body: body({ stream }) }))),
    { path: '/v1/images/generations', key: other.key, body: { model: 'flux-2', prompt: 'A cat', n: 2 } },
    { path: '/v1/web-search', key: other.key, body: { query: 'cats' } },
  ];
  for (const { path, ...request } of requests) assert.equal((await gateway.post(path, request)).status, 200);
  await browser.withPage({ baseUrl: gateway.url, cookie: member.cookie }, async (page) => {
    await page.goto('/usage?mode=test');
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Export CSV' }).click()]);
    const rows = csvRows(readFileSync(await download.path(), 'utf8'));
    const records = await apiRecords(key);
    assert.equal(records.length, requests.length);
    assert.deepEqual(
      rows.map((row) => [
        row['created_at'],
        row['request_id'],
        row['model_name'],
        Number(row['input_tokens']),
        Number(row['output_tokens']),
        Number(row['images']),
        Number(row['web_searches']),
        Math.round(Number(row['cost_usd']) * 1_000_000),
      ]),
      records.map((record) => [
        record.created_at,
        record.request_id,
        record.model,
        record.input_tokens,
        record.output_tokens,
        record.images ?? 0,
        record.web_searches ?? 0,
        microsOf(record),
      ]),
    );
  });
});

async function fillIn(page: Page, values: Readonly<Record<string, string>>): Promise<void> {
  for (const [label, value] of Object.entries(values)) await page.getByRole('textbox', { name: label }).fill(value);
}

/** All of `GET /v1/usage`, in small pages. */
async function apiRecords(key: string): Promise<readonly ApiRecord[]> {
  type Answer = { readonly data: readonly ApiRecord[]; readonly next_cursor: string | null };
  const records: ApiRecord[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: Answer = (await gateway.get(`/v1/usage?limit=3&cursor=${encodeURIComponent(cursor)}`, { key })).json();
    records.push(...page.data);
    cursor = page.next_cursor;
  }
  return records;
}

function microsOf({ cost_cents: cents }: ApiRecord): number {
  return Math.round(cents * 10_000);
}

/** Of a file whose cells need no quotes. */
function csvRows(text: string): readonly Readonly<Record<string, string | undefined>>[] {
  const [titles, ...rows] = text
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(','));
  return rows.map((cells) => Object.fromEntries(titles!.map((title, index) => [title, cells[index]])));
}
