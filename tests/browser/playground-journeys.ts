// Journeys in the playground, with their clicks counted.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import {
  checkAccessibility,
  checkLooks,
  countClicks,
  phone,
  takePicture,
  visitsOf,
} from '../support/browser.ts';
import { signIn, type DashboardClient } from '../support/dashboard.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

/** One red pixel. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

let gateway: TestGateway;
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

test('two models answer one question side by side, in at most four clicks', async () => {
  await visit('/?mode=test', async (page) => {
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    const clicks = await countClicks(page);
    await page.getByRole('link', { name: 'Playground' }).click();
    await page.getByRole('button', { name: 'Add model' }).click();
    await page.getByRole('textbox', { name: 'Message' }).fill('Which is faster?');
    await page.getByRole('button', { name: 'Send' }).click();
    for (const figure of [/\$0\.0\d+/, /\d+ output tokens/, /first token after/, /tokens\/s/])
      await page.getByText(figure).nth(1).waitFor();
    assert.ok((await clicks()) <= 4, `${await clicks()} clicks`);
    assert.equal(await page.getByText('You said: Which is faster?').count(), 2);
    // The models are still chosen after a look at the images.
    await page.getByRole('tab', { name: 'Images' }).click();
    await page.getByRole('tab', { name: 'Chat' }).click();
    await page.getByRole('combobox', { name: 'Model 2' }).waitFor();
    await checkLooks(page, 'playground-two');
  });
});

test('the errors of two models keep within their columns', async () => {
  await visit(
    '/playground?mode=test&model=gpt-6-luna,gpt-5.6-luna',
    async (page) => {
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.route(/\/v1\/responses$/, (route) =>
        route.continue({
          postData: route.request().postData()!.replace('"model":"gpt-', '"model":"none-'),
        }),
      );
      await say(page, 'Hello');
      for (const index of [0, 1]) {
        const alert = page.getByRole('alert').nth(index);
        const box = (await alert.boundingBox())!;
        const copy = (await alert.getByRole('button').boundingBox())!;
        assert.ok(copy.x + copy.width <= box.x + box.width, `alert ${index}`);
      }
      await takePicture(page, 'playground-two-errors');
    },
    { ignores: /status of 404/ },
  );
});

test('four models answer at once; one fails alone, and Stop ends all', async () => {
  const models = 'gpt-6-luna,gpt-5.6-luna,claude-haiku-4-5,gpt-4o';
  await visit(
    `/playground?mode=test&model=${models}`,
    async (page) => {
      await say(page, 'sandbox: tokens=2000\nsandbox: pace_ms=50\nHello');
      await page.waitForFunction(() => {
        const answers = [...document.querySelectorAll('[data-testid=answer]')];
        return answers.length === 4 && answers.every(({ textContent }) => textContent.length > 20);
      });
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.getByText('Stopped. The tokens so far are charged.').nth(3).waitFor();
      await page.route(/\/v1\/responses$/, (route) =>
        (route.request().postData() ?? '').includes('"model":"gpt-4o"')
          ? route.continue({
              postData: route
                .request()
                .postData()!
                .replace('"model":"gpt-4o"', '"model":"gpt-none"'),
            })
          : route.continue(),
      );
      await say(page, 'And now?');
      const turn = page.getByRole('article', { name: 'Turn 2' });
      await turn
        .getByText(/output tokens/)
        .nth(2)
        .waitFor();
      await turn.getByRole('link', { name: 'About model_not_found' }).waitFor();
      assert.equal(await turn.getByRole('alert').count(), 1);
      await checkLooks(page, 'playground-four');
    },
    { ignores: /status of 404/ },
  );
});

test('an image is pasted or chosen, seen by the model, and in the code as a file', async () => {
  await visit('/playground?mode=test&model=gpt-6-luna', async (page) => {
    await page.getByRole('textbox', { name: 'Message' }).fill('What is on it?');
    const choosing = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Add files' }).click();
    await (
      await choosing
    ).setFiles([
      { name: 'dot.png', mimeType: 'image/png', buffer: png },
      { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('my notes') },
    ]);
    await page.getByRole('img', { name: 'dot.png' }).waitFor();
    await page.evaluate(pasteImage(png.toString('base64')));
    await page.getByRole('img', { name: 'pasted.png' }).waitFor();
    await page.evaluate(dropText);
    await page.getByText('dropped.md').waitFor();
    await checkLooks(page, 'playground-files');
    await page.getByRole('button', { name: 'Remove dropped.md' }).click();
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText(/my notes[^]*\(with 2 images\)/).waitFor();
    await page.getByRole('article').getByRole('button', { name: 'Copy as code' }).click();
    const code = (await page.getByRole('region', { name: 'With curl' }).textContent())!;
    assert.match(code, /data:image\/png;base64,\$\(base64 < 'dot\.png' \| tr -d '\\n'\)/);
    await page.getByRole('tab', { name: 'Python' }).click();
    const python = page.getByRole('region', { name: 'With Python' });
    assert.match((await python.textContent())!, /base64," \+ read_file\("dot\.png"\)/);
    await page.keyboard.press('Escape');
    const refused = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Add files' }).click();
    await (
      await refused
    ).setFiles([
      { name: 'big.png', mimeType: 'image/png', buffer: Buffer.alloc(8 * 1024 * 1024 + 1) },
    ]);
    await page.getByText('big.png is larger than 8 MB. Choose a smaller file.').waitFor();
  });
});

for (const format of ['responses', 'chat', 'messages']) {
  test(`parallel tool calls get their results from the reader in ${format}`, async () => {
    await visit(`/playground?mode=test&model=gpt-6-luna&format=${format}`, async (page) => {
      await page.getByRole('button', { name: /^Tools/ }).click();
      const dialog = page.getByRole('dialog', { name: 'Tools' });
      await dialog.getByRole('button', { name: 'Insert example' }).click();
      await dialog.getByRole('button', { name: 'Save' }).click();
      const call = (city: string) => `sandbox: tool=get_weather {"city":"${city}"}`;
      await say(page, `Weather?\n${call('Paris')}\n${call('Oslo')}`);
      const calls = page.getByRole('region', { name: 'Call of get_weather' });
      await calls.filter({ hasText: '"city": "Oslo"' }).getByLabel('Result of').fill('cold');
      await calls
        .filter({ hasText: '"city": "Paris"' })
        .getByRole('button', { name: '{"ok": true}' })
        .click();
      if (format === 'responses') await checkLooks(page, 'playground-tools');
      await page.getByRole('button', { name: 'Send 2 results' }).click();
      await page.getByText(/get_weather returned: \{"ok": true\}/).waitFor();
      const turn = page.getByRole('article', { name: 'Turn 1' });
      await turn
        .getByText(/output tokens/)
        .nth(1)
        .waitFor();
      await turn.getByRole('button', { name: 'Copy as code' }).nth(1).click();
      const code = (await page.getByRole('region', { name: 'With curl' }).textContent())!;
      assert.match(code, /"get_weather"[^]*Oslo[^]*cold/);
      await page.keyboard.press('Escape');
      await say(page, 'Thank you');
      await page.getByText('You said: Thank you').waitFor();
    });
  });
}

test('on a phone one model is shown at a time, and the answers of all are there', async () => {
  await visit(
    '/playground?mode=test&model=gpt-6-luna,claude-haiku-4-5',
    async (page) => {
      await say(page, 'Hello there');
      await page.getByText(/output tokens/).waitFor();
      assert.equal(await page.getByTestId('answer').count(), 1);
      await page
        .getByRole('radiogroup', { name: 'Model shown' })
        .getByText('Claude Haiku 4.5')
        .click();
      await page.getByRole('region', { name: 'Answer of Claude Haiku 4.5' }).waitFor();
      await checkAccessibility(page);
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      assert.equal(overflow, 0);
      await takePicture(page, 'playground-phone');
      await page.getByRole('button', { name: 'Settings' }).click();
      await page.getByLabel('System prompt').waitFor();
      await checkAccessibility(page);
      await takePicture(page, 'playground-phone-settings');
    },
    { viewport: phone },
  );
});

/** Pastes into the message, as a screenshot from the clipboard. */
function pasteImage(base64: string): string {
  return `{
    const bytes = Uint8Array.from(atob('${base64}'), (letter) => letter.charCodeAt(0));
    const clipboardData = new DataTransfer();
    clipboardData.items.add(new File([bytes], 'pasted.png', { type: 'image/png' }));
    document.querySelector('textarea[aria-label=Message]').dispatchEvent(
      new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }),
    );
  }`;
}

/** Drops a text file on the message. */
const dropText = `{
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File(['dropped'], 'dropped.md', { type: 'text/markdown' }));
  document.querySelector('textarea[aria-label=Message]').dispatchEvent(
    new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }),
  );
}`;
