// The web app as the gateway serves it: what browsers get, the content policy, and that programs
// are not affected.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { startGateway } from '../support/gateway.ts';

const built = join(import.meta.dirname, '..', '..', 'dist', 'current', 'dashboard');
type Manifest = Readonly<Record<string, { readonly file: string }>>;
const manifest = JSON.parse(readFileSync(join(built, 'manifest.json'), 'utf8')) as Manifest;
const script = `/${manifest['index.html']!.file}`;

const gateway = await startGateway({ server: { public_url: 'https://gateway.example' } });
after(() => gateway.stop());

/** The headers with which a browser requests a page. */
function visit(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(gateway.url + path, {
    headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', ...headers },
  });
}

/** `fetch` would decompress. */
async function readRaw(path: string, headers: Record<string, string>) {
  const sent = get(gateway.url + path, { headers });
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const body = Buffer.concat(await response.toArray());
  return { status: response.statusCode, headers: response.headers, body };
}

test('every path outside the APIs serves the app page, uncached', async () => {
  const pages = ['/', '/keys', '/keys?mode=test', '/operator/accounts/acc_1', '/first-run?token=x'];
  for (const path of [...pages, '/v1beta', '/admin/v1beta']) {
    const answer = await visit(path);
    assert.equal(answer.status, 200, path);
    assert.match(answer.headers.get('content-type')!, /^text\/html/);
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    assert.match(await answer.text(), new RegExp(script));
  }
});

test('a HEAD of a page is answered like a GET without the body', async () => {
  const headers = { accept: 'text/html' };
  const answer = await fetch(`${gateway.url}/keys`, { method: 'HEAD', headers });
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get('content-type')!, /^text\/html/);
});

test('programs, unknown API paths and other methods get errors, not the page', async () => {
  const asksForAnything = await fetch(`${gateway.url}/keys`);
  assert.equal(asksForAnything.status, 404);
  assert.match(asksForAnything.headers.get('content-type')!, /json/);
  const absent = ['/v1/no-such', '/dashboard-api/no-such', '/admin/v1/no-such'];
  const roots = ['/v1', '/admin/v1', '/admin/v1?x=1', '/assets/'];
  for (const path of [...absent, ...roots, '/assets/no-such.js']) {
    const answer = await visit(path);
    assert.equal(answer.status, 404, path);
    assert.match(answer.headers.get('content-type')!, /json/, path);
  }
  const headers = { accept: 'text/html' };
  const posted = await fetch(`${gateway.url}/keys`, { method: 'POST', body: '{}', headers });
  assert.equal(posted.status, 404);
  assert.match((await visit('/v1/responses')).headers.get('content-type')!, /json/);
  assert.match((await visit('/healthz')).headers.get('content-type')!, /json/);
});

test('the page loads only its own resources and cannot be framed', async () => {
  const [one, other] = await Promise.all([visit('/'), visit('/')]);
  const policyOf = (answer: Response) => answer.headers.get('content-security-policy')!;
  const directives = Object.fromEntries(
    policyOf(one)
      .split('; ')
      .map((directive) => [directive.split(' ')[0]!, directive.split(' ').slice(1)]),
  );
  const { 'style-src': styles, ...rest } = directives;
  assert.deepEqual(rest, {
    'default-src': ["'none'"],
    'script-src': ["'self'"],
    'img-src': ["'self'", 'data:', 'blob:', 'https://gateway.example'],
    'media-src': ['blob:'],
    'connect-src': ["'self'"],
    'font-src': ["'self'"],
    'form-action': ["'self'"],
    'frame-ancestors': ["'none'"],
    'base-uri': ["'none'"],
  });
  const nonce = /^'nonce-(\S+)'$/.exec(styles![1]!)![1]!;
  assert.equal(styles![0], "'self'");
  assert.ok(Buffer.from(nonce, 'base64').length >= 16);
  assert.ok((await one.text()).includes(`<meta property="csp-nonce" nonce="${nonce}"`));
  assert.notEqual(policyOf(one), policyOf(other));
  assert.equal(one.headers.get('x-content-type-options'), 'nosniff');
  assert.equal(one.headers.get('x-frame-options'), 'DENY');
  // A one-time link's token must not leave with a click.
  assert.equal(one.headers.get('referrer-policy'), 'same-origin');
});

test('the page has no inline script or style', async () => {
  const page = await (await visit('/')).text();
  for (const [, attributes, content] of page.matchAll(/<script([^>]*)>([^]*?)<\/script>/g)) {
    assert.match(attributes!, /src="\/assets\//);
    assert.equal(content, '');
  }
  assert.doesNotMatch(page, /<style|style="|\son\w+="/);
});

test('each page starts the code of its address with the app', async () => {
  const path = join(import.meta.dirname, '..', '..', 'dashboard', 'app', 'router.tsx');
  const router = readFileSync(path, 'utf8');
  const pattern = /page\((\w+), '(\/[^'$]*)', \(\) => import\('\.\.\/(.*?)'\)/g;
  const routes = [...router.matchAll(pattern)];
  assert.ok(routes.length >= 20);
  for (const [, parent, place, source] of routes) {
    // The lesser pages of visitors load their code with the app.
    if (!source!.endsWith('/page.tsx')) continue;
    const address = parent === 'operator' ? `/operator${place}` : place!;
    const page = await (await visit(`${address}?mode=test`)).text();
    const { file } = manifest[source!]!;
    assert.ok(page.includes(`<link rel="modulepreload" crossorigin href="/${file}">`), address);
  }
});

test('assets are cached for ever and sent in the smallest encoding that the browser accepts', async () => {
  const content = readFileSync(join(built, script));
  const cases = [
    { accepts: 'gzip, deflate, br', encoding: 'br', read: brotliDecompressSync },
    { accepts: 'gzip', encoding: 'gzip', read: gunzipSync },
    { accepts: 'br;q=0, gzip', encoding: 'gzip', read: gunzipSync },
    { accepts: 'identity', encoding: undefined, read: (body: Buffer) => body },
  ];
  for (const { accepts, encoding, read } of cases) {
    const answer = await readRaw(script, { 'accept-encoding': accepts });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['content-encoding'], encoding, accepts);
    assert.equal(answer.headers.vary, 'accept-encoding');
    assert.equal(answer.headers['cache-control'], 'public, max-age=31536000, immutable');
    assert.equal(answer.headers['content-type'], 'text/javascript; charset=utf-8');
    assert.ok(read(answer.body).equals(content), accepts);
  }
});

test('only files of the build are served', async () => {
  const outside = ['..%2findex.html', '../index.html', '%2e%2e/manifest.json', '%00.js'];
  for (const path of [...outside.map((name) => `/assets/${name}`), `${script}.br`]) {
    const answer = await fetch(gateway.url + path);
    assert.ok([400, 404].includes(answer.status), `${path}: ${answer.status}`);
  }
});
