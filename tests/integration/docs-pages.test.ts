// The documentation as the gateway serves it: its pages, their headers, and what errors link to.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { homePage, sections, addressOf } from '../../docs-site/contents.ts';
import { errorKinds } from '../../src/canonical/errors.ts';
import { builtProgram } from '../support/built-program.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
before(async () => {
  builtProgram();
  gateway = await startGateway();
});
after(() => gateway.stop());

const read = (path: string, accept = '*/*') => fetch(gateway.url + path, { headers: { accept } });

test('every page is served to anyone, loads only the gateway’s own files and is not framed', async () => {
  const names = sections.flatMap(({ pages }) => pages);
  for (const name of names) {
    const answer = await read(addressOf(name));
    assert.equal(answer.status, 200, name);
    assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8');
    assert.equal(
      answer.headers.get('content-security-policy'),
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    );
    const page = await answer.text();
    assert.doesNotMatch(
      page,
      /<style|style="|\son\w+="|<script(?![^>]* src="\/docs\/assets\/)/,
      name,
    );
  }
});

test('every link within the documentation leads to a page or a file', async () => {
  const seen = new Set<string>();
  for (const name of sections.flatMap(({ pages }) => pages)) {
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
  const { error } = (await (await read('/v1/balance')).json()) as {
    readonly error: { readonly code: string; readonly documentation_url: string };
  };
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
  for (const path of [
    '/docs/no-such-page',
    '/docs/assets/no.js',
    '/docs/..%2fmain.js',
    '/docs/404.html',
  ]) {
    const answer = await read(path);
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
