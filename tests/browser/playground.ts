// The playground in a real browser: answers with their cost, stopping, and the API's errors.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import {
  checkAccessibility,
  checkLooks,
  openBrowser,
  takePicture,
  type TestBrowser,
} from '../support/browser.ts';
import { signIn, type DashboardClient } from '../support/dashboard.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
let browser: TestBrowser;
let member: DashboardClient;
before(async () => {
  [gateway, browser] = await Promise.all([startGateway(), openBrowser()]);
  member = await signIn(gateway, { role: 'member' });
  await gateway.makeKey({ account: member.account, name: 'Playground' });
});
after(() => gateway.stop());

type Options = { readonly ignores?: RegExp };

function visit<Result>(
  path: string,
  action: (page: Page) => Promise<Result>,
  options: Options = {},
): Promise<Result> {
  return browser.withPage(
    { baseUrl: gateway.url, cookie: member.cookie, ...options },
    async (page) => {
      await page.goto(path);
      return action(page);
    },
  );
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill(text);
  await page.keyboard.press('Enter');
}

for (const format of ['responses', 'chat', 'messages']) {
  test(`a chat of two turns in the ${format} format shows reasoning, tokens and cost`, async () => {
    await visit(`/playground?mode=test&format=${format}&model=gpt-5-mini`, async (page) => {
      await say(page, 'sandbox: think=They greet me.\nHello there!');
      const answer = page.getByRole('article', { name: 'Turn 1' });
      await answer.getByText('You said: Hello there!').waitFor();
      await answer.getByText(/\$0\.00\d+/).waitFor();
      await answer.getByText(/\d+ output tokens/).waitFor();
      await answer.getByText('Reasoning').click();
      await answer.getByText('They greet me.', { exact: true }).waitFor();
      await say(page, 'And now <b>this</b>');
      await page
        .getByRole('article', { name: 'Turn 2' })
        .getByText('You said: And now <b>this</b>')
        .waitFor();
      if (format !== 'responses') return;
      await say(
        page,
        'Hello there, this is a somewhat longer message to see how the lines are broken on a narrow screen.',
      );
      await page
        .getByRole('article', { name: 'Turn 3' })
        .getByText(/output tokens/)
        .waitFor();
      await checkLooks(page, 'playground-chat');
    });
  });
}

test('an answer can be stopped, and its text so far stays', async () => {
  await visit('/playground?mode=test&model=gpt-5-mini', async (page) => {
    await say(page, 'sandbox: tokens=2000\nsandbox: pace_ms=50\nHello');
    const answer = page.getByRole('article', { name: 'Turn 1' }).getByTestId('answer');
    await page.waitForFunction(
      () => (document.querySelector('[data-testid=answer]')?.textContent?.length ?? 0) > 20,
    );
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped. The tokens so far are charged.').waitFor();
    assert.ok((await answer.textContent())!.length > 20);
    await page.getByRole('button', { name: 'Send' }).waitFor();
  });
});

test('an error is shown as the API reports it, also in the middle of an answer', async () => {
  await visit(
    '/playground?mode=test&model=gpt-5-mini',
    async (page) => {
      await say(page, 'sandbox: status=503\nHello');
      await page
        .getByRole('article', { name: 'Turn 1' })
        .getByRole('alert')
        .getByText(/req_\w+/)
        .waitFor();
      await say(page, 'sandbox: cut_after=3\nHello you there');
      const cut = page.getByRole('article', { name: 'Turn 2' });
      await cut.getByRole('alert').waitFor();
      assert.match((await cut.getByTestId('answer').textContent())!, /You said/);
      await checkAccessibility(page);
      await takePicture(page, 'playground-refused');
    },
    { ignores: /status of 50\d/ },
  );
});

test('settings apply to the request and to its code', async () => {
  await visit('/playground?mode=test&format=chat&model=gpt-5-mini', async (page) => {
    await page.getByLabel('System prompt').fill('Answer in French.');
    await page.getByLabel('Max output tokens').fill('7');
    await page.getByRole('switch', { name: 'Stream the answer' }).uncheck({ force: true });
    await say(page, 'Hello, how are you today? I am well.');
    await page.getByText('stopped at the token limit').waitFor();
    await page.getByRole('button', { name: 'View code' }).click();
    const code = page.getByRole('region', { name: 'With curl' });
    const text = (await code.textContent())!;
    assert.match(text, /\/v1\/chat\/completions/);
    assert.match(text, /"max_completion_tokens": 7/);
    assert.match(text, /Answer in French\./);
    assert.doesNotMatch(text, /"stream"/);
    await checkAccessibility(page);
    await takePicture(page, 'playground-code');
    await page.getByRole('tab', { name: 'TypeScript' }).click();
    await page.getByText("import OpenAI from 'openai';").waitFor();
  });
});

test('an image is generated and shown with its cost', async () => {
  await visit('/playground?mode=test&tab=images&model=flux-2', async (page) => {
    await page.getByLabel('Prompt', { exact: true }).fill('A lighthouse in the evening');
    await page.getByRole('button', { name: 'Generate' }).click();
    const image = page.getByRole('img', { name: 'A lighthouse in the evening' });
    await image.waitFor();
    await page.waitForFunction(() =>
      [...document.images].every(({ complete, naturalWidth }) => complete && naturalWidth > 0),
    );
    await page.getByText(/\$0\.0\d+ ·/).waitFor();
    await checkLooks(page, 'playground-images');
  });
});

test('without a key of the mode, the page says what to do', async () => {
  await visit('/playground', async (page) => {
    await page.getByText('You need a live key to try a model').waitFor();
    await checkAccessibility(page);
  });
});
