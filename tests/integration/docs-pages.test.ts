// The documentation as the gateway serves it: its pages, their headers, and what errors link to.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import sharp from 'sharp';
import { addressOf, homePage, markdownAddressOf, sections } from '../../docs-site/contents.ts';
import { errorKinds } from '../../src/canonical/errors.ts';
import type { Operation } from '../../src/reference/operation.ts';
import { publicOperations } from '../../src/reference/public-operations.ts';
import { builtProgram } from '../support/built-program.ts';
import { columnOf } from '../support/column-of.ts';
import { startGateway } from '../support/gateway.ts';

builtProgram();
const gateway = await startGateway({
  models: {
    'gpt-6-astra': { retires_at: '2020-01-01' },
    'gpt-6-sol': { retires_at: '2199-01-01' },
  },
});
after(() => gateway.stop());

const pageNames = sections.flatMap(({ pages }) => pages);
const read = (path: string, accept = '*/*') => fetch(gateway.url + path, { headers: { accept } });

test('every page is served to anyone, loads only the gateway’s own files and is not framed', async () => {
  for (const name of pageNames) {
    const answer = await read(addressOf(name));
    assert.equal(answer.status, 200, name);
    assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8');
    assert.equal(
      answer.headers.get('content-security-policy'),
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    );
    const foreign = /<style|style="|\son\w+="|<script(?![^>]* src="\/docs\/assets\/)/;
    assert.doesNotMatch(await answer.text(), foreign, name);
  }
});

test('every link within the documentation leads to a page or a file', async () => {
  const seen = new Set<string>();
  for (const name of pageNames) {
    const page = await (await read(addressOf(name))).text();
    for (const [, path] of page.matchAll(/(?:href|src|data-index)="(\/docs[^"#]*)/g))
      seen.add(path!);
  }
  for (const path of seen) assert.equal((await read(path)).status, 200, path);
  assert.ok(seen.size > 40);
});

test('the page of errors has an anchor with meaning and remedy for every code', async () => {
  const page = await (await read('/docs/errors')).text();
  for (const [code, { meaning }] of Object.entries(errorKinds)) {
    const row = new RegExp(`<tr id="${code}">([^]*?)</tr>`).exec(page)?.[1];
    assert.ok(row, `no anchor for ${code}`);
    const text = row.replaceAll(/<[^>]+>/g, '').replaceAll('&#39;', "'");
    assert.ok(text.includes(meaning.replaceAll('`', '').slice(0, 30)), code);
  }
});

test('an error names the address of its entry', async () => {
  type Body = { readonly error: { readonly code: string; readonly documentation_url: string } };
  const { error } = (await (await read('/v1/balance')).json()) as Body;
  const address = new URL(error.documentation_url, gateway.url);
  assert.equal(address.hash, `#${error.code}`);
  const page = await (await read(address.pathname)).text();
  assert.ok(page.includes(`id="${error.code}"`));
});

test('assets are cached for ever, pages never', async () => {
  const page = await read('/docs');
  assert.equal(page.headers.get('cache-control'), 'no-store');
  const style = /href="(\/docs\/assets\/style[^"]+)"/.exec(await page.text())![1]!;
  const answer = await read(style);
  assert.equal(answer.headers.get('cache-control'), 'public, max-age=31536000, immutable');
  assert.equal(answer.headers.get('content-type'), 'text/css; charset=utf-8');
});

test('an unknown page is a page for browsers and JSON for programs, and no path leaves the folder', async () => {
  const page = await read('/docs/no-such-page', 'text/html');
  assert.equal(page.status, 404);
  assert.match(await page.text(), /Page not found/);
  const inside = ['no-such-page', 'assets/no.js', '404.html', 'no.md', 'robots.txt'];
  for (const path of [...inside, '..%2fmain.js', '..%2f..%2fREADME.md']) {
    const answer = await read(`/docs/${path}`);
    assert.equal(answer.status, 404, path);
    assert.match(answer.headers.get('content-type')!, /json/, path);
  }
});

test('a program that asks for / is told where the documentation is', async () => {
  const answer = await read('/');
  assert.equal(answer.status, 404);
  assert.match(await answer.text(), /documentation at \/docs/);
  assert.equal((await read(addressOf(homePage))).status, 200);
});

test('every page is also Markdown, with links that work and this gateway’s address', async () => {
  const seen = new Set<string>();
  for (const name of pageNames) {
    const answer = await read(markdownAddressOf(name));
    assert.equal(answer.status, 200, name);
    assert.equal(answer.headers.get('content-type'), 'text/markdown; charset=utf-8');
    const text = await answer.text();
    assert.match(text, /^# /, name);
    assert.ok(!text.includes('{{'), name);
    for (const [, path] of text.matchAll(/\]\(([^):]+?)(?:#[^)]*)?\)/g)) seen.add(path!);
  }
  for (const path of seen) assert.equal((await read(path, 'text/html')).status, 200, path);
  const quickStart = await (await read('/docs/guides/quick-start.md')).text();
  assert.ok(quickStart.includes(`curl ${gateway.url}/v1/chat/completions`));
  // What an operator's machine listens on is no address of this gateway.
  const deploying = await (await read('/docs/deploying.md')).text();
  assert.ok(!deploying.includes(gateway.url));
});

test('/llms.txt lists every page with its address', async () => {
  const answer = await read('/llms.txt', 'text/html');
  assert.equal(answer.headers.get('content-type'), 'text/plain; charset=utf-8');
  const text = await answer.text();
  for (const name of pageNames)
    assert.ok(text.includes(`](${gateway.url}${markdownAddressOf(name)}): `), name);
  assert.doesNotMatch(text, /: (?:$|[#|-]|```)|\{\{/m);
  assert.ok(text.includes('Set `stream: true`, and the answer arrives'));
});

test('/sitemap.xml lists every page with its address, and /robots.txt names it', async () => {
  const answer = await read('/sitemap.xml', 'text/html');
  assert.equal(answer.headers.get('content-type'), 'application/xml; charset=utf-8');
  const listed = [...(await answer.text()).matchAll(/<url><loc>([^<]+)<\/loc><\/url>/g)];
  const places = pageNames.map((name) => gateway.url + addressOf(name));
  assert.deepEqual(columnOf(listed, 1), places);
  const robots = await (await read('/robots.txt')).text();
  assert.ok(robots.includes(`Sitemap: ${gateway.url}/sitemap.xml`));
});

test('each page leads to the one before and the one after, of the same readers', async () => {
  for (const { audience } of sections) {
    const ofReaders = sections.filter((section) => section.audience === audience);
    const own = ofReaders.flatMap(({ pages }) => pages);
    for (const [at, name] of own.entries()) {
      const text = await (await read(addressOf(name), 'text/html')).text();
      const link = (rel: string) => new RegExp(`<a rel="${rel}" href="([^"]+)"`).exec(text)?.[1];
      const beside = [own[at - 1], own[at + 1]].map((other) => other && addressOf(other));
      assert.deepEqual([link('prev'), link('next')], beside, name);
    }
  }
});

test('a browser that asks for the icon or for /robots.txt gets these, not the dashboard', async () => {
  const icon = await read('/favicon.ico', 'text/html,image/*');
  assert.equal(icon.headers.get('content-type'), 'image/x-icon');
  const bytes = Buffer.from(await icon.arrayBuffer());
  assert.deepEqual([...bytes.subarray(0, 6)], [0, 0, 1, 0, 1, 0]);
  const [length, start] = [bytes.readUInt32LE(14), bytes.readUInt32LE(18)];
  assert.equal(start + length, bytes.length);
  assert.equal((await sharp(bytes.subarray(start)).metadata()).width, 32);
  const robots = await read('/robots.txt', 'text/html');
  assert.equal(robots.headers.get('content-type'), 'text/plain; charset=utf-8');
  const words =
    /^User-agent: \*\nAllow: \/docs\n[^]*Disallow: \/\nSitemap: http\S+\/sitemap.xml\n$/;
  assert.match(await robots.text(), words);
});

type Info = {
  readonly id: string;
  readonly input_price_per_1m: number;
  readonly price_per_search_unit?: number;
  readonly price_per_1m_characters?: number;
  readonly price_per_minute?: number;
  readonly type?: string;
};

test('the page of models has the prices of /v1/models/info, for everybody, without JavaScript', async () => {
  const { data } = (await (await read('/v1/models/info')).json()) as { readonly data: Info[] };
  assert.ok(data.length > 50);
  const page = await (await read('/docs/models')).text();
  const text = await (await read('/docs/models.md')).text();
  for (const { id, input_price_per_1m: tokens, type, ...info } of data) {
    const pattern = new RegExp(`<tr>(?:(?!</tr>).)*<code>${RegExp.escape(id)}</code>.*?</tr>`);
    const row = pattern.exec(page);
    const line = text.split('\n').find((one) => one.startsWith(`| ${id} |`));
    assert.ok(row && line, id);
    if (type === 'image') continue;
    const { price_per_1m_characters: characters, price_per_minute: minute } = info;
    const price = info.price_per_search_unit ?? characters ?? minute ?? tokens;
    const label = type === undefined ? 'Input' : 'Price';
    const cell = new RegExp(`data-label="${label}">\\$([\\d.,]+)`).exec(row[0]);
    assert.equal(Number(cell![1]!.replaceAll(',', '')), price, id);
    assert.ok(line.startsWith(`| ${id} |${type === undefined ? '' : ` ${type} |`} $`), line);
  }
  assert.doesNotMatch(page + text, /NaN|undefined|\{\{/);
});

test('the page of models says which models end, and which have ended', async () => {
  const text = await (await read('/docs/models.md')).text();
  assert.doesNotMatch(text, /[^|\s] {2}[^|\s]/);
  assert.match(text, /^\| gpt-6-astra \|.* ended on 2020-01-01 \|$/m);
  assert.match(text, /^\| gpt-6-sol \|.* until 2199-01-01 \|$/m);
});

test('the API changelog names every call for customers', async () => {
  const text = await (await read('/docs/api-changes.md')).text();
  const calls = Object.entries<Operation>(publicOperations)
    .filter(([, { tag }]) => tag !== 'Operation')
    .map(([name, { path }]) => (path === undefined ? name : name.replace(/ .*/, ` ${path}`)));
  assert.ok(calls.length > 20);
  for (const name of calls) assert.ok(text.includes(`\`${name}\``), name);
});
