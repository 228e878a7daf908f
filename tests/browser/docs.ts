// The documentation under /docs, as a reader with an address and a key uses it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { addressOf, homePage, isMade, sections } from '../../docs-site/contents.ts';
import { checkAccessibility, checkLooks, phone, withPage } from '../support/browser.ts';
import { signIn } from '../support/dashboard.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { scaled } from '../support/volume.ts';

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ test_mode: { enabled: true } });
});
after(() => gateway.stop());

/** One page of each kind; the long run has all. */
const pages = scaled(
  [
    homePage,
    'guides/quick-start',
    'guides/from-litellm',
    'errors',
    'images',
    'models',
    'deploying',
  ],
  sections.flatMap((section) => section.pages).filter((name) => !isMade(name) || name === 'models'),
);

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });

test('pages of the documentation are readable in light and dark, on a desktop and on a phone', async () => {
  await withPage({ baseUrl: gateway.url }, async (page) => {
    for (const name of pages) {
      await page.goto(name === homePage ? '/docs' : `/docs/${name}`);
      await heading(page, '').waitFor();
      await checkLooks(page, `docs-${name.replaceAll('/', '-')}`);
    }
  });
});

test('the search finds a passage, and the keyboard opens it', async () => {
  await withPage({ baseUrl: gateway.url }, async (page) => {
    await page.goto('/docs');
    await page.keyboard.press('/');
    await page.keyboard.type('why 402');
    await page.getByRole('link', { name: '› Why a 402 came' }).waitFor();
    await checkAccessibility(page);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/guides/errors#why-a-402-came');
    await page.getByRole('searchbox').fill('no such word anywhere');
    await page.getByText('Nothing found').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('Nothing found').waitFor({ state: 'hidden' });
  });
});

test('a page that the query names is found first', async () => {
  await withPage({ baseUrl: gateway.url }, async (page) => {
    for (const audience of ['customers', 'operators'] as const) {
      const own = sections.filter((section) => section.audience === audience);
      const names = own.flatMap((section) => section.pages);
      await page.goto(addressOf(names[0]!));
      const links = page.locator('#navigation a:not(.audiences a)');
      const titles = await links.allTextContents();
      for (const title of titles) {
        await page.getByRole('searchbox').fill(title);
        const first = page.locator('#found li:first-child a');
        await first.filter({ hasText: title }).waitFor();
        // Two pages have the same title.
        const named = names.filter((_name, at) => titles[at] === title).map(addressOf);
        assert.ok(named.includes((await first.getAttribute('href'))!), title);
      }
    }
    await page.goto('/docs');
    await page.getByRole('searchbox').fill('idempotency');
    await page.locator('#found li:first-child a[href="/docs/guides/idempotency"]').waitFor();
  });
});

test('a path in the reference’s list breaks before slashes, colons and hyphens only', async () => {
  await withPage({ baseUrl: gateway.url }, async (page) => {
    for (const name of ['reference', 'admin-reference']) {
      await page.goto(`/docs/${name}`);
      await page.locator('.calls a').first().waitFor();
      const broken = await page.locator('.calls a').evaluateAll((links) =>
        links.flatMap((link) =>
          [...link.childNodes].flatMap(({ textContent: text }, index) => {
            const node = link.childNodes[index]!;
            return [...(text ?? '').matchAll(/[^-]+/g)].flatMap(({ 0: word, index: start }) => {
              if (node.nodeType !== Node.TEXT_NODE || word.trim() === '') return [];
              const range = new Range();
              range.setStart(node, start);
              range.setEnd(node, start + word.length);
              return range.getClientRects().length > 1 ? [text] : [];
            });
          }),
        ),
      );
      assert.deepEqual(broken, []);
    }
  });
});

test('samples have the gateway’s address and the reader’s key, also when they are copied', async () => {
  const { key } = await gateway.makeKey({ mode: 'test' });
  await withPage({ baseUrl: gateway.url }, async (page) => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto('/docs/guides/quick-start');
    await page.getByLabel('Your key').fill(key);
    await page.getByText('Test key: the sandbox answers').waitFor();
    const cut = await page
      .locator('.code:not(.output) pre')
      .evaluateAll((boxes) =>
        boxes.filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.textContent),
      );
    assert.deepEqual(cut, []);
    await page.getByRole('button', { name: 'Copy', exact: true }).nth(1).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.ok(copied.startsWith(`curl ${gateway.url}/v1/chat/completions`), copied);
    assert.ok(copied.includes(`Bearer ${key}`), copied);
    // The next page of the same tab still has it.
    await page.getByRole('link', { name: 'Streaming' }).first().click();
    await heading(page, 'Streaming').waitFor();
    await page.getByText(key).filter({ visible: true }).first().waitFor();
    await page.getByLabel('Your key').fill('');
    await page.getByText('YOUR_KEY').filter({ visible: true }).first().waitFor();
  });
});

test('on a phone, the menu opens the navigation and closes it', async () => {
  await withPage({ baseUrl: gateway.url, viewport: phone }, async (page) => {
    await page.goto('/docs');
    assert.equal(await page.getByRole('link', { name: 'Codex' }).count(), 0);
    await page.getByRole('button', { name: 'Menu' }).click();
    await checkAccessibility(page);
    await page.getByRole('link', { name: 'Codex' }).click();
    await heading(page, 'Codex').waitFor();
  });
});

test('with an address and a key, a reader streams a first answer, finds why a 402 came and lists the models', async () => {
  const { key } = await gateway.makeKey({ mode: 'test' });
  const { key: poor } = await gateway.makeKey({ mode: 'live' });
  await withPage({ baseUrl: gateway.url, ignores: /402/ }, async (page) => {
    await page.goto('/docs');
    await page.getByRole('link', { name: 'API reference' }).first().click();
    await page.getByLabel('Your key').fill(key);
    const open = async (path: string) => {
      const call = page.locator('section.call', {
        has: page.locator('code.path', { hasText: new RegExp(` ${path}$`) }),
      });
      await call.getByText('Try it').click();
      return call;
    };
    const chat = await open('/v1/chat/completions');
    await chat.getByLabel('Model').selectOption('claude-haiku-4-5');
    await chat.getByRole('button', { name: 'Send' }).click();
    await chat.getByText('200').waitFor();
    await chat.locator('.text', { hasText: 'You said: Hello!' }).waitFor();
    await chat.locator('.raw', { hasText: '[DONE]' }).waitFor();
    await checkLooks(page, 'docs-reference-answer');

    await page.getByLabel('Your key').fill(poor);
    await chat.getByRole('button', { name: 'Send with the live key (charged)' }).click();
    const why = chat.getByRole('link', { name: 'What insufficient_balance means' });
    await why.waitFor();

    const models = await open('/v1/models');
    await models.getByRole('button', { name: 'Send' }).click();
    await models.locator('.raw', { hasText: '"gpt-6-luna"' }).waitFor();

    await why.click();
    await page.locator('#insufficient_balance:target').getByText('Top up').waitFor();
  });
});

test('the reference shows the fields and the answers of a call, in light and dark, on a desktop and on a phone', async () => {
  await withPage({ baseUrl: gateway.url }, async (page) => {
    await page.goto('/docs/reference');
    await heading(page, 'API reference').waitFor();
    await page.locator('#createMessage').waitFor();
    const call = page.locator('#createChatCompletion');
    for (const title of await call.locator('.call-text > details > summary').all())
      await title.click();
    await call.getByText('messages array of ChatMessage').click();
    await call.getByText('insufficient_balance').waitFor();
    await checkLooks(page, 'docs-reference');
  });
});

test('the dashboard and its sign-in page lead to the documentation', async () => {
  const user = await signIn(gateway, { role: 'member', name: 'Ada Lovelace' });
  for (const [path, cookie] of [
    ['/sign-in', undefined],
    ['/keys', user.cookie],
  ] as const) {
    await withPage({ baseUrl: gateway.url, cookie }, async (page) => {
      await page.goto(path);
      await page.getByRole('link', { name: 'Documentation' }).click();
      await heading(page, 'Start here').waitFor();
    });
  }
});

test('an unknown address below /docs says so in the documentation’s frame', async () => {
  await withPage({ baseUrl: gateway.url, ignores: /404/ }, async (page) => {
    await page.goto('/docs/no-such-page');
    await heading(page, 'Page not found').waitFor();
    await checkAccessibility(page);
  });
});

/** Opens the form that sends a request to a path. */
async function tryCall(page: Page, path: string) {
  const call = page.locator('section.call', {
    has: page.locator('code.path', { hasText: new RegExp(` ${path}$`) }),
  });
  await call.getByText('Try it').click();
  return call;
}

test('a long answer is shown to a limit, so that the page stays usable', async () => {
  const { key } = await gateway.makeKey({ mode: 'test' });
  await withPage({ baseUrl: gateway.url }, async (page) => {
    await page.goto('/docs/reference');
    await page.getByLabel('Your key').fill(key);
    const chat = await tryCall(page, '/v1/chat/completions');
    const content = 'sandbox: tokens=12000';
    const body = { model: 'gpt-6-luna', stream: true, messages: [{ role: 'user', content }] };
    await chat.getByLabel('Body').fill(JSON.stringify(body));
    await chat.getByRole('button', { name: 'Send' }).click();
    await chat.locator('.raw', { hasText: /… \d+ more characters are not shown\.$/ }).waitFor();
    await chat.getByRole('button', { name: 'Stop' }).waitFor({ state: 'hidden' });
    const lengths = await chat
      .locator('.raw, .text')
      .evaluateAll((shown) => shown.map(({ textContent }) => textContent.length));
    assert.ok(Math.max(...lengths) < 210_000, lengths.join());
    const text = await chat.locator('.text').textContent();
    assert.ok(text!.length >= 40_000, 'the text of the whole stream');
  });
});

test('a stopped answer stays, and another can be sent', async () => {
  const { key } = await gateway.makeKey({ mode: 'test' });
  await withPage({ baseUrl: gateway.url }, async (page) => {
    await page.goto('/docs/reference');
    await page.getByLabel('Your key').fill(key);
    const chat = await tryCall(page, '/v1/chat/completions');
    const send = async (content: string) => {
      const body = { model: 'gpt-6-luna', stream: true, messages: [{ role: 'user', content }] };
      await chat.getByLabel('Body').fill(JSON.stringify(body));
      await chat.getByRole('button', { name: 'Send' }).click();
    };
    await send('sandbox: tokens=500\nsandbox: pace_ms=1000');
    await chat.locator('.raw', { hasText: 'data: {' }).waitFor();
    await chat.getByRole('button', { name: 'Stop' }).click();
    await chat.getByText('Stopped.').waitFor();
    await chat.locator('.raw', { hasText: 'data: {' }).waitFor();
    await send('Hello!');
    await chat.locator('.raw', { hasText: '[DONE]' }).waitFor();
    assert.equal(await chat.getByText('Stopped.').count(), 0);
  });
});

test('the reference sends the key alone, without the cookies of the dashboard', async () => {
  const user = await signIn(gateway, { role: 'member' });
  const { key } = await gateway.makeKey({ mode: 'test' });
  await withPage({ baseUrl: gateway.url, cookie: user.cookie }, async (page) => {
    await page.goto('/docs/reference');
    await page.getByLabel('Your key').fill(key);
    const models = await tryCall(page, '/v1/models');
    const sent = page.waitForRequest(
      (request) => request.url().endsWith('/v1/models') && 'authorization' in request.headers(),
    );
    await models.getByRole('button', { name: 'Send' }).click();
    const headers = await (await sent).allHeaders();
    assert.equal(headers['authorization'], `Bearer ${key}`);
    assert.equal(headers['cookie'], undefined);
    assert.ok(!page.url().includes(key));
    await models.locator('.raw', { hasText: '"gpt-6-luna"' }).waitFor();
  });
});

test('an admin key is not kept and not shown in samples', async () => {
  const { key } = await gateway.makeAdminKey({});
  await withPage({ baseUrl: gateway.url }, async (page) => {
    await page.goto('/docs/guides/quick-start');
    await page.getByLabel('Your key').fill(key);
    await page.getByText('This is an admin key').waitFor();
    const kept = await page.evaluate(() =>
      JSON.stringify([Object.entries(sessionStorage), Object.entries(localStorage)]),
    );
    assert.ok(!kept.includes(key), kept);
    assert.ok(!(await page.locator('article').textContent())!.includes(key));
    await page.goto('/docs/guides/streaming');
    assert.equal(await page.getByLabel('Your key').inputValue(), '');
  });
});

test('a broken fragment in the address leaves the reference whole', async () => {
  await withPage({ baseUrl: gateway.url }, async (page) => {
    await page.goto('/docs/reference#%E0%A4%A');
    await page.locator('#reference:not([aria-busy])').waitFor();
    await page.locator('#createMessage').waitFor();
  });
});

test('a call has its code in four languages, with the reader’s key and edits, and the choice holds everywhere', async () => {
  const { key } = await gateway.makeKey({ mode: 'test' });
  await withPage({ baseUrl: gateway.url }, async (page) => {
    await page.goto('/docs/reference');
    await page.getByLabel('Your key').fill(key);
    const chat = await tryCall(page, '/v1/chat/completions');
    const code = chat.getByRole('tabpanel').first();
    await code.getByText(`Authorization: Bearer ${key}`).waitFor();
    await chat.getByRole('tab', { name: 'Python' }).click();
    await code.getByText('import httpx').waitFor();
    await chat.getByLabel('Body').fill('{"model": "gpt-6-luna", "n": true}');
    await code.getByText('"n": True').waitFor();
    await page.keyboard.press('Tab');
    await chat.getByRole('tab', { name: 'Python' }).press('ArrowRight');
    await code.getByText('await fetch(').waitFor();
    assert.equal(await page.getByRole('tab', { name: 'TypeScript', selected: false }).count(), 0);
    await checkAccessibility(page);

    await page.goto('/docs/guides/quick-start');
    await page.getByRole('tab', { name: 'JavaScript', selected: true }).first().waitFor();
    await page.getByText("import OpenAI from 'openai'").filter({ visible: true }).first().waitFor();
    assert.equal(await page.getByText('package main').filter({ visible: true }).count(), 0);
    await page.getByRole('tab', { name: 'Go' }).first().click();
    await page.getByText('package main').filter({ visible: true }).first().waitFor();
    await page.reload();
    await page.getByRole('tab', { name: 'Go', selected: true }).first().waitFor();
  });
});

test('the button copies the page as Markdown with this gateway’s address', async () => {
  await withPage({ baseUrl: gateway.url }, async (page) => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto('/docs/guides/quick-start');
    await page.getByRole('button', { name: 'Copy page' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.ok(copied.startsWith('# Quick start\n'), copied);
    assert.ok(copied.includes(`curl ${gateway.url}/v1/chat/completions`), copied);
  });
});

test('operators’ pages have a navigation of their own, and the search shows a reader’s own pages first', async () => {
  await withPage({ baseUrl: gateway.url }, async (page) => {
    await page.goto('/docs');
    assert.equal(await page.getByRole('link', { name: 'Kubernetes' }).count(), 0);
    const first = async (query: string) => {
      await page.getByRole('searchbox').fill(query);
      return page.locator('#found a').first().getAttribute('href');
    };
    assert.equal((await first('idempotency'))?.split('#')[0], '/docs/guides/idempotency');
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Operate it' }).click();
    await heading(page, 'Deploying').waitFor();
    await page.getByRole('link', { name: 'Kubernetes' }).waitFor();
    assert.equal(await page.getByRole('link', { name: 'Quick start', exact: true }).count(), 0);
    assert.match((await first('idempotency')) ?? '', /^\/docs\/admin-api/);
  });
});

test('the page of models finds models by words', async () => {
  await withPage({ baseUrl: gateway.url }, async (page) => {
    await page.goto('/docs/models');
    await page.getByLabel('Find models').fill('gpt-6 thinks');
    const rows = page.locator('table.models tbody tr').filter({ visible: true });
    await page.getByText('claude-haiku-4-5', { exact: true }).waitFor({ state: 'hidden' });
    for (const text of await rows.allTextContents()) assert.match(text, /gpt-6.*thinks/);
    assert.ok((await rows.count()) > 0);
    await page.getByLabel('Find models').fill('no such model');
    await page.getByText('No model has these words.').waitFor();
  });
});

test('the admin reference shows the calls of operators with code, and no field for a key', async () => {
  await withPage({ baseUrl: gateway.url }, async (page) => {
    await page.goto('/docs/admin-reference');
    await page.locator('#postAdminAccounts').getByText('ADMIN_KEY').waitFor();
    assert.equal(await page.getByLabel('Your key').count(), 0);
    assert.equal(await page.locator('#createMessage').count(), 0);
    await checkAccessibility(page);
  });
});
