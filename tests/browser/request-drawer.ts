// The drawer of a request in a real browser: stepping through the list, the conversation, and sending
// the request again.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import {
  checkAccessibility,
  checkLooks,
  phone,
  takePicture,
  visitsOf,
} from '../support/browser.ts';
import { signIn, type DashboardClient } from '../support/dashboard.ts';
import { answerStatus } from '../support/upstream.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import type { RunningApp } from '../support/running-app.ts';
import { modelOf } from '../support/model-of.ts';

const run = promisify(execFile);

let gateway: TestGateway<RunningApp>;
let owner: DashboardClient;
/** Keeps bodies. */
let keeping: { readonly id: string; readonly key: string };
before(async () => {
  gateway = await startGateway({
    bodies: { days_max: 5 },
    models: {
      'broken-model': modelOf([{ provider: 'local', model: 'up' }], {
        prices: { input: 1, output: 1 },
      }),
    },
  });
  owner = await signIn(gateway);
  keeping = await gateway.makeKey({ account: owner.account, name: 'Agent', bodyDays: 2 });
});
after(() => gateway.stop());

const visit = visitsOf(() => ({ gateway, user: owner }));

/** Sends a request, waits until its history and bodies are stored, and returns its id. */
async function sent(path: string, body: object, key = keeping.key): Promise<string> {
  const { requestId } = await gateway.post(path, { key, body });
  await stored();
  return requestId;
}

async function stored(): Promise<void> {
  await gateway.program.app.gateway.observe.activity.flush();
  await gateway.program.app.gateway.observe.bodies.flush();
}

const drawerOf = (page: Page) => page.getByRole('dialog', { name: 'Request' });

function openRequest(id: string, action: (drawer: Locator, page: Page) => Promise<void>) {
  return visit(`/requests?mode=test&request=${id}`, async (page) => {
    const drawer = drawerOf(page);
    await drawer.getByText('Held in advance').or(drawer.getByRole('alert')).first().waitFor();
    await action(drawer, page);
  });
}

test('j and k move through the list and the drawer, Enter opens, Escape closes, and fields are left alone', async () => {
  const account = await signIn(gateway);
  const { key } = await gateway.makeKey({ account: account.account });
  const ids: string[] = [];
  for (const input of ['one', 'two', 'three'])
    ids.unshift(await sent('/v1/responses', { model: 'gpt-6-luna', input }, key));
  await visit(
    '/requests?mode=test',
    async (page) => {
      const buttons = page
        .getByRole('table', { name: 'Requests' })
        .locator('tbody')
        .getByRole('button');
      await buttons.nth(2).waitFor();
      const focused = (index: number) =>
        buttons.and(page.locator(':focus')).and(buttons.nth(index)).waitFor();
      await page.keyboard.press('j');
      await focused(0);
      await page.keyboard.press('j');
      await focused(1);
      await page.keyboard.press('k');
      await focused(0);
      const field = page.getByRole('combobox', { name: 'Key' });
      await field.focus();
      await field.press('j');
      assert.equal(await field.inputValue(), 'j');
      assert.equal(await page.locator('[data-row]:focus').count(), 0);
      await page.keyboard.press('Escape');
      await buttons.first().press('Enter');
      const drawer = drawerOf(page);
      for (const [press, id] of [
        [() => page.keyboard.press('j'), ids[1]],
        [() => drawer.getByRole('button', { name: 'Next request' }).click(), ids[2]],
        [() => page.keyboard.press('j'), ids[2]],
        [() => page.keyboard.press('k'), ids[1]],
        [() => drawer.getByRole('button', { name: 'Previous request' }).click(), ids[0]],
        [() => page.keyboard.press('j'), ids[1]],
      ] as const) {
        await press();
        await drawer.getByText(id!, { exact: true }).waitFor();
        await drawer.getByText('Held in advance').waitFor();
      }
      await page.keyboard.press('Escape');
      await drawer.waitFor({ state: 'detached' });
      await focused(1);
    },
    { cookie: account.cookie },
  );
});

test('a failed request says one exact cause, and leads to its key', async () => {
  gateway.upstream.on('/local/v1/chat/completions', answerStatus(500));
  const { key } = await gateway.makeKey({ account: owner.account, name: 'Live one', creditUsd: 5 });
  const id = await sent(
    paths.chat,
    { model: 'broken-model', messages: [{ role: 'user', content: 'Hi' }] },
    key,
  );
  await visit(`/requests?request=${id}`, async (page) => {
    const drawer = drawerOf(page);
    const alert = drawer.getByRole('alert');
    await alert
      .getByText('The last call failed: local, status 500. Nothing was charged.')
      .waitFor();
    assert.equal(await alert.getByText(/is overloaded or unreachable/).count(), 0);
    await checkAccessibility(page);
    await takePicture(page, 'request-cause');
    await drawer.getByRole('link', { name: 'Live one' }).click();
    await page.getByRole('dialog', { name: 'Live one' }).waitFor();
  });
});

const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==';
const dataUrl = `data:image/png;base64,${pixel}`;
const link = 'https://example.com/tower.png';
const lastWords = `<script>alert('it''s me')</script>\nsandbox: think=Look again.\nsandbox: tool=get_weather {"city":"Rome"}`;
const parameters = { type: 'object', properties: { city: { type: 'string' } } };
const weather = { name: 'get_weather', description: 'Weather.' };

/** The same talk in each format, with a call, its result and an image. */
const talks = {
  responses: {
    model: 'gpt-6-luna',
    stream: true,
    instructions: 'Be brief.',
    tools: [{ type: 'function', ...weather, parameters }],
    max_output_tokens: 300,
    reasoning: { effort: 'low', summary: 'auto' },
    metadata: { job: '7' },
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'How warm is it there?' },
          { type: 'input_image', image_url: dataUrl },
          { type: 'input_image', image_url: link },
        ],
      },
      { type: 'function_call', call_id: 'c1', name: 'get_weather', arguments: '{"city":"Paris"}' },
      { type: 'function_call_output', call_id: 'c1', output: '7 degrees' },
      { role: 'user', content: lastWords },
    ],
  },
  chat: {
    model: 'gpt-6-luna',
    reasoning_effort: 'low',
    tools: [{ type: 'function', function: { ...weather, parameters } }],
    max_completion_tokens: 300,
    messages: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'How warm is it there?' },
          { type: 'image_url', image_url: { url: dataUrl } },
          { type: 'image_url', image_url: { url: link } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            id: 'c1',
            type: 'function',
            function: { name: 'get_weather', arguments: '{"city":"Paris"}' },
          },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: '7 degrees' },
      { role: 'user', content: lastWords },
    ],
  },
  messages: {
    model: 'claude-haiku-4-5',
    stream: true,
    max_tokens: 300,
    system: [{ type: 'text', text: 'Be brief.' }],
    tools: [{ ...weather, input_schema: parameters }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'How warm is it there?' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } },
          { type: 'image', source: { type: 'url', url: link } },
        ],
      },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'c1', name: 'get_weather', input: { city: 'Paris' } }],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: '7 degrees' },
          { type: 'text', text: lastWords },
        ],
      },
    ],
  },
} as const;

const paths = {
  responses: '/v1/responses',
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
} as const;

for (const format of ['responses', 'chat', 'messages'] as const)
  test(`bodies of the ${format} format are shown as a conversation, and never as HTML`, async () => {
    const id = await sent(paths[format], talks[format]);
    await openRequest(id, async (drawer, page) => {
      await drawer.getByRole('tab', { name: 'Conversation' }).click();
      await drawer.getByRole('region', { name: 'System' }).getByText('Be brief.').waitFor();
      const [question, words] = [0, 1].map((index) =>
        drawer.getByRole('region', { name: 'User', exact: true }).nth(index),
      );
      await question!.getByText('How warm is it there?').waitFor();
      await question!.getByText(link).waitFor();
      assert.equal(await question!.getByRole('img').getAttribute('src'), dataUrl);
      assert.equal(await question!.getByRole('link').count(), 0);
      const called = drawer.getByRole('region', { name: 'Assistant' });
      await called.getByText('"city": "Paris"').waitFor();
      await called.getByText('7 degrees').waitFor();
      await words!.getByText("<script>alert('it''s me')</script>").waitFor();
      assert.equal(await drawer.locator('script').count(), 0);
      const answer = drawer.getByRole('region', { name: 'Answer' });
      await answer.getByText('"city": "Rome"').waitFor();
      await answer.getByText('Reasoning').click();
      await answer.getByText('Look again.').waitFor();
      if (format === 'responses') await checkLooks(page, 'request-conversation');
      else await checkAccessibility(page);
      await drawer.getByRole('tab', { name: 'Request' }).click();
      const raw = drawer.getByRole('region', { name: 'Body of the request' });
      assert.deepEqual(JSON.parse(await raw.innerText()), talks[format]);
    });
  });

/** Presses "Copy as curl", runs the command as it is, and returns what it printed. */
async function runCopied(drawer: Locator, page: Page): Promise<string> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await drawer.getByRole('button', { name: 'Copy as curl' }).click();
  await drawer.getByRole('button', { name: 'Copied' }).waitFor();
  const command = await page.evaluate<string>('navigator.clipboard.readText()');
  const env = { PATH: process.env.PATH, TOLLGATE_KEY: keeping.key };
  return (await run('bash', ['-c', `${command} -sS -i`], { env })).stdout;
}

test('a request is copied as a curl line that sends the same body again', async () => {
  const id = await sent(paths.messages, talks.messages);
  await openRequest(id, async (drawer, page) => {
    const printed = await runCopied(drawer, page);
    assert.match(printed, /"stop_reason":"tool_use"/);
    await stored();
    const again = /^x-request-id: (\S+)/m.exec(printed)![1]!;
    const { text } = await owner.get(`/accounts/${owner.account}/requests/${again}/bodies`);
    assert.deepEqual(JSON.parse(JSON.parse(text).kept.request.text), talks.messages);
  });
});

test('without a kept body, the curl line and the playground have the model, and say so', async () => {
  const { key } = await gateway.makeKey({ account: owner.account, name: 'Web' });
  const body = { ...talks.chat, model: 'gpt-4o' };
  const id = await sent(paths.chat, body, key);
  await openRequest(id, async (drawer, page) => {
    assert.match(await runCopied(drawer, page), /"object":"chat\.completion"/);
    await page.getByText(/^Copied with an example body/).waitFor();
    await drawer.getByRole('link', { name: 'Open in playground' }).click();
    await page.getByText(/^Only the model is taken over from request/).waitFor();
    await page
      .getByRole('combobox', { name: 'Model' })
      .and(page.locator('[value*="GPT-4o"]'))
      .waitFor();
  });
});

for (const format of ['responses', 'chat', 'messages'] as const)
  test(`a ${format} request opens in the playground and goes on there`, async () => {
    const id = await sent(paths[format], talks[format]);
    await openRequest(id, async (drawer, page) => {
      await drawer.getByRole('link', { name: 'Open in playground' }).click();
      await page.getByText(/^Filled from request/).waitFor();
      const first = page.getByRole('article', { name: 'Turn 1' });
      await first.getByText('How warm is it there?').waitFor();
      await first.getByText('7 degrees').waitFor();
      if (format === 'responses') {
        await page.getByText('Not taken over: metadata.').waitFor();
        await checkLooks(page, 'playground-from-request');
      }
      const message = page.getByRole('textbox', { name: 'Message' });
      assert.equal(await message.inputValue(), lastWords);
      await message.press('Enter');
      const second = page.getByRole('article', { name: 'Turn 2' });
      await second.getByText('"city": "Rome"').waitFor();
      await second.getByRole('link', { name: 'View request' }).waitFor();
      // The reader's own conversation is another one.
      await page.getByRole('link', { name: 'Back to your own' }).click();
      await page.getByText('Start a conversation').waitFor();
    });
  });

test('a request that ended with results waits with them in the playground', async () => {
  const { messages } = talks.chat;
  const id = await sent(paths.chat, { ...talks.chat, messages: messages.slice(0, -1) });
  await openRequest(id, async (drawer, page) => {
    await drawer.getByRole('link', { name: 'Open in playground' }).click();
    const result = page.getByRole('textbox', { name: 'Result of get_weather' });
    await result.waitFor();
    assert.equal(await result.inputValue(), '7 degrees');
    await page.getByRole('button', { name: 'Send result' }).click();
    await page.getByText(/^\d+ output tokens$/).waitFor();
  });
});

test('on a phone, the drawer has its buttons above the details', async () => {
  const id = await sent(paths.chat, talks.chat);
  const options = { viewport: phone, colorScheme: 'dark' } as const;
  await visit(
    `/requests?mode=test&request=${id}`,
    async (page) => {
      await drawerOf(page).getByText('Held in advance').waitFor();
      await checkAccessibility(page);
      await takePicture(page, 'request-drawer-phone');
    },
    options,
  );
});
