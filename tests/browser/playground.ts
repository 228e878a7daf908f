// The playground in a real browser: answers with their cost, stopping, and the API's errors.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { readKeyUses } from '../../src/domain/activity/queries.ts';
import {
  checkAccessibility,
  checkLooks,
  takePicture,
  visitsOf,
  withPage,
} from '../support/browser.ts';
import { signIn, type DashboardClient } from '../support/dashboard.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { ok } from '../support/http.ts';
import type { RunningApp } from '../support/running-app.ts';
import { wav } from '../support/task-samples.ts';
import { until } from '../support/until.ts';

let gateway: TestGateway<RunningApp>;
let member: DashboardClient;
before(async () => {
  gateway = await startGateway();
  member = await signIn(gateway, { role: 'member' });
  await gateway.makeKey({ account: member.account, name: 'Playground' });
});
after(() => gateway.stop());

const visit = visitsOf(() => ({ gateway, user: member }));

async function say(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill(text);
  await page.keyboard.press('Enter');
}

for (const format of ['responses', 'chat', 'messages']) {
  test(`a chat of two turns in the ${format} format shows reasoning, tokens and cost`, async () => {
    await visit(`/playground?mode=test&format=${format}&model=claude-haiku-4-5`, async (page) => {
      await say(page, 'sandbox: think=They greet me.\nHello there!');
      const answer = page.getByRole('article', { name: 'Turn 1' });
      await answer.getByText('You said: Hello there!').waitFor();
      await answer.getByText(/\$0\.00\d+/).waitFor();
      await answer.getByText(/\d+ output tokens/).waitFor();
      await answer.getByText('Reasoning').click();
      await answer.getByText('They greet me.', { exact: true }).waitFor();
      await answer.getByText(/\d+ tokens\/s/).waitFor();
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
  await visit('/playground?mode=test&model=gpt-6-luna', async (page) => {
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
    '/playground?mode=test&model=gpt-6-luna',
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
  await visit('/playground?mode=test&format=chat&model=gpt-6-luna', async (page) => {
    await page.getByLabel('System prompt').fill('Answer in French.');
    await page.getByLabel('Max output tokens').fill('7');
    await page.getByRole('switch', { name: 'Stream the answer' }).uncheck({ force: true });
    await say(page, 'Hello, how are you today? I am well.');
    await page.getByText('stopped at the token limit').waitFor();
    await page.getByRole('button', { name: 'Copy as code' }).first().click();
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

test('Markdown is formatted, and loads nothing', async () => {
  await visit('/playground?mode=test&model=gpt-6-luna', async (page) => {
    await say(
      page,
      'Look\n\n- **one**\n- ![cat](https://example.com/cat.png)\n\n```js\nlet a = 1;\n```',
    );
    const answer = page.getByTestId('answer');
    await answer.locator('li strong', { hasText: 'one' }).waitFor();
    await answer.getByRole('link', { name: 'cat' }).waitFor();
    await answer.getByRole('region', { name: 'Code in js' }).waitFor();
    assert.equal(await answer.locator('img').count(), 0);
    await checkLooks(page, 'playground-markdown');
  });
});

test('tools and a schema are checked as they are typed, and the answer is shown as JSON', async () => {
  await visit('/playground?mode=test&model=gpt-6-luna&format=chat', async (page) => {
    await page.getByRole('button', { name: /^Output schema/ }).click();
    const dialog = page.getByRole('dialog', { name: 'Output schema' });
    await dialog.getByLabel('JSON Schema').fill('{"type":');
    await dialog.getByText(/^This is not JSON/).waitFor();
    assert.ok(await dialog.getByRole('button', { name: 'Save' }).isDisabled());
    await dialog.getByRole('button', { name: 'Insert example' }).click();
    await checkLooks(page, 'playground-schema');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await say(page, 'How sure are you?');
    const json = page.getByRole('region', { name: 'Answer as JSON' });
    await json.waitFor();
    assert.match(
      (await json.textContent())!,
      /^\{\n {2}"answer": "text",\n {2}"confidence": 0\n\}$/,
    );
    await page.getByRole('button', { name: 'Copy as code' }).first().click();
    const code = page.getByRole('region', { name: 'With curl' });
    assert.match((await code.textContent())!, /"response_format"[^]*"confidence"/);
  });
});

test('prompts are saved under a name, used again and deleted', async () => {
  await visit('/playground?mode=test&model=gpt-6-luna', async (page) => {
    const message = page.getByRole('textbox', { name: 'Message' });
    await message.fill('Summarize this:');
    await page.getByLabel('System prompt').fill('Be brief.');
    const menu = page.getByRole('button', { name: 'Saved prompts' });
    await menu.click();
    await page.getByRole('textbox', { name: 'Name of this prompt' }).fill('Summary');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await checkAccessibility(page);
    await takePicture(page, 'playground-prompts');
    await page.reload();
    await message.fill('');
    await page.getByLabel('System prompt').fill('');
    await menu.click();
    await page.getByRole('button', { name: 'Summary', exact: true }).click();
    assert.equal(await message.inputValue(), 'Summarize this:');
    assert.equal(await page.getByLabel('System prompt').inputValue(), 'Be brief.');
    await menu.click();
    await page.getByRole('button', { name: 'Delete Summary' }).click();
    await page.getByRole('button', { name: 'Summary', exact: true }).waitFor({ state: 'detached' });
  });
});

test('a conversation survives a reload, in its mode only, and sign-out removes it', async () => {
  const other = await signIn(gateway, { role: 'member', account: member.account });
  await withPage({ baseUrl: gateway.url, cookie: other.cookie }, async (page) => {
    await page.goto('/playground?mode=test&model=gpt-6-luna,gpt-5.6-luna&format=messages');
    await say(page, 'Remember me');
    await page
      .getByText(/output tokens/)
      .nth(1)
      .waitFor();
    await until(async () => (await keptChat(page))?.match(/"state":"complete"/g)?.length === 2);
    // The address names neither the models nor the format.
    await page.goto('/playground?mode=test');
    const answers = page.getByText('You said: Remember me');
    await answers.nth(1).waitFor();
    assert.equal((await page.getByText('Messages', { exact: true }).count()) > 0, true);
    await say(page, 'Again');
    await page.getByText('You said: Again').nth(1).waitFor();
    await page.goto('/playground?mode=live');
    await page.getByText('You need a live key to try a model').waitFor();
    await page.getByRole('button', { name: /^User menu/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.waitForURL(/\/sign-in/);
    assert.equal(await keptChat(page), null);
  });
});

test('the page says when the key belongs to somebody else', async () => {
  const owner = await signIn(gateway, { role: 'owner', name: 'Ada Lovelace' });
  const { account } = owner;
  await ok(owner.post(`/accounts/${account}/keys`, { mode: 'test', name: 'Backend' }));
  const other = await signIn(gateway, { role: 'member', account });
  for (const [{ cookie }, whose] of [
    [owner, 'your'],
    [other, 'Ada Lovelace’s'],
  ] as const)
    await withPage({ baseUrl: gateway.url, cookie }, async (page) => {
      await page.goto('/playground?mode=test');
      await page.getByText(`with ${whose} key “Backend”`).waitFor();
      const note = page.getByText('This is Ada Lovelace’s key. Your requests count in its caps.');
      assert.equal(await note.first().isVisible(), whose !== 'your');
      await checkAccessibility(page);
    });
});

test('the key used last is offered first', async () => {
  const other = await signIn(gateway, { role: 'member' });
  const old = await gateway.makeKey({ account: other.account, name: 'Old' });
  const fresh = await gateway.makeKey({ account: other.account, name: 'New' });
  await gateway.post('/v1/responses', {
    key: old.key,
    body: { model: 'gpt-6-luna', input: 'Hello' },
  });
  await until(async () => {
    await gateway.program.app.gateway.observe.activity.flush();
    return (await readKeyUses(gateway.database.read, [old.id])).size === 1;
  });
  await withPage({ baseUrl: gateway.url, cookie: other.cookie }, async (page) => {
    const key = page.getByRole('combobox', { name: 'Key' });
    const isShown = (name: string) => until(async () => (await key.inputValue()) === name);
    // The gateway answers only after the message is sent.
    let answer: () => void = () => {};
    const isSent = new Promise<void>((resolve) => (answer = resolve));
    await page.route(`**/keys/${fresh.id}`, async (route) => {
      await isSent;
      await route.fallback();
    });
    const searches = new Set<string | null>();
    page.on('request', (request) =>
      searches.add(new URL(request.url()).searchParams.get('search')),
    );
    await page.goto('/playground?mode=test');
    await isShown('Old');
    await Promise.all([page.waitForRequest(/[?&]search=New(&|$)/), key.fill('New')]);
    await page.getByRole('option', { name: 'New' }).click();
    await page.getByText('with the account’s key “New”').waitFor();
    const [request] = await Promise.all([page.waitForRequest(/\/v1\//), say(page, 'Hello')]);
    answer();
    assert.match(request.url(), new RegExp(`/keys/${fresh.id}/v1/`));
    await page.getByText(/\d output tokens/).waitFor();
    await page.goto('/playground?mode=test');
    await isShown('New');
    // The name of the chosen key is no search, so that the list offers all keys.
    searches.delete(null);
    assert.deepEqual([...searches], ['New']);
  });
});

/** The turns of the first conversation that the browser keeps; null: it keeps none. */
/** Returns the kept conversation as JSON. */
function keptChat(page: Page): Promise<string | null> {
  return page.evaluate(`new Promise((resolve) => {
    const opening = indexedDB.open('tollgate', 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore('values');
    opening.onsuccess = () => {
      const reading = opening.result.transaction('values').objectStore('values').getAll();
      reading.onsuccess = () => {
        opening.result.close();
        resolve(reading.result.length > 0 ? JSON.stringify(reading.result[0]) : null);
      };
    };
  })`);
}

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

test('texts are compared with the first by their embeddings, the most similar first', async () => {
  await visit('/playground?mode=test&tab=others&model=voyage-4', async (page) => {
    const texts = 'the lighthouse at night\na loaf of bread\na lighthouse at night';
    await page.getByLabel('Texts').fill(texts);
    await page.getByRole('button', { name: 'Compare' }).click();
    const rows = page.getByRole('table', { name: 'Similar texts' }).locator('tbody tr');
    await rows.first().waitFor();
    assert.deepEqual(await rows.locator('td:first-child').allTextContents(), [
      'a lighthouse at night',
      'a loaf of bread',
    ]);
    await page.getByText(/1,024 dimensions · \$0\.0+\d/).waitFor();
    await checkLooks(page, 'playground-embeddings');
  });
});

test('a model that ranks, judges, speaks or transcribes has its own form', async () => {
  const at = (model: string) => `/playground?mode=test&tab=others&model=${model}`;
  await visit(at('rerank-v3.5'), async (page) => {
    await page.getByLabel('Query').fill('harbour lighthouse');
    await page.getByLabel('Documents').fill('bread\nthe harbour lighthouse');
    await page.getByRole('button', { name: 'Rank' }).click();
    const rows = page.getByRole('table', { name: 'Ranking' }).locator('tbody tr');
    await rows.first().waitFor();
    assert.equal(await rows.first().textContent(), 'the harbour lighthouse1.000');
    await page.goto(at('omni-moderation-latest'));
    const text = page.getByRole('textbox', { name: 'Text' });
    await text.fill('sandbox: flag=violence\nI will hit you');
    await page.getByRole('button', { name: 'Judge' }).click();
    await page.getByText('Flagged · $0').waitFor();
    await page.goto(at('tts-1'));
    await text.fill('A lighthouse');
    await page.getByRole('button', { name: 'Speak' }).click();
    const player = page.locator('audio');
    await player.waitFor();
    await page.getByText(/bytes · \$0\.0+\d/).waitFor();
    await page.waitForFunction(() => document.querySelector('audio')!.duration > 0);
    await page.goto(at('whisper-1'));
    const file = { name: 'a.wav', mimeType: 'audio/wav', buffer: wav(3.7) };
    await page.setInputFiles('input[type=file]', file);
    await page.getByRole('button', { name: 'Transcribe' }).click();
    await page.getByText('The sandbox heard 4 seconds of audio.').waitFor();
    await page.getByRole('button', { name: 'Copy as code' }).click();
    await page.getByText(/-F 'file=@a\.wav'/).waitFor();
    await page.keyboard.press('Escape');
    await checkLooks(page, 'playground-transcription');
  });
});

test('without a key of the mode, the page says what to do', async () => {
  await visit('/playground', async (page) => {
    await page.getByText('You need a live key to try a model').waitFor();
    await checkAccessibility(page);
  });
});
