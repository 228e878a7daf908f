import assert from 'node:assert/strict';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { after, before } from 'node:test';
import sharp from 'sharp';
import { buildConnector } from 'undici';
import { ByteBudget } from '../../src/domain/images/fetched-bytes.ts';
import { FetchedBytes } from '../../src/domain/images/fetched-bytes.ts';
import { checkedConnector, type OpenConnector } from '../../src/lib/checked-connector.ts';
import { isPublicAddress } from '../../src/lib/public-hosts.ts';
import type { Resolve } from '../../src/lib/resolve-name.ts';
import { createSafeFetch, type SafeFetchOptions } from '../../src/domain/images/safe-fetch.ts';
import { hostileAnswers, hostileUrls } from '../support/hostile-urls.ts';
import fc from '../support/property.ts';
import { systemClock } from '../../src/lib/clock.ts';

const publicAddress = '93.184.215.14';
const png = await sharp({ create: { width: 9, height: 4, channels: 3, background: 'green' } })
  .png()
  .toBuffer();

/**
 * The attacker's server, on two addresses of this machine. The test chooses its answers, and it
 * counts connections.
 */
const seen = { connections: 0, addresses: [] as string[], headers: [] as object[] };
let answer: RequestListener = (_request, response) => response.end(png);
const servers: Server[] = [];
let port = 0;

before(async () => {
  for (const address of ['127.0.0.1', '127.0.0.2']) {
    const server = createServer((request, response) => {
      seen.headers.push(request.headers);
      answer(request, response);
    });
    server.on('connection', (socket) => {
      seen.connections++;
      seen.addresses.push(socket.localAddress!);
    });
    await new Promise<void>((resolve) => server.listen(port, address, resolve));
    port = (server.address() as AddressInfo).port;
    servers.push(server);
  }
});

after(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

function reset(listener: RequestListener): void {
  Object.assign(seen, { connections: 0, addresses: [], headers: [] });
  answer = listener;
}

/**
 * The addresses of opened connections. All of them lead to the server above, whatever the port, so
 * nothing leaves the machine.
 */
const opened: string[][] = [];
const toServer: OpenConnector = (addresses) => (options, callback) => {
  opened.push([...addresses]);
  buildConnector({})(
    { ...options, protocol: 'http:', hostname: '127.0.0.1', host: '127.0.0.1', port: String(port) },
    callback,
  );
};

const localNames =
  /^(?:.*\.)?(?:localhost|localhost\.|localhost\.localdomain|ip6-localhost|metadata\.google\.internal)$/;
const resolveAsSystem: Resolve = async (name) =>
  localNames.test(name) ? ['127.0.0.1', '::1'] : [publicAddress];

const limits = () => ({
  bytesMax: 1_000_000,
  budget: new ByteBudget(10_000_000, new FetchedBytes(1).enter('a')),
  signal: new AbortController().signal,
});

function fetcherWith(options: Partial<SafeFetchOptions> = {}) {
  const fetcher = createSafeFetch({
    clock: systemClock,
    openConnector: toServer,
    resolve: resolveAsSystem,
    ...options,
  });
  return (url: string, changes: Partial<ReturnType<typeof limits>> = {}) =>
    fetcher(url, { ...limits(), ...changes });
}

async function problemOf(result: Promise<{ kind: string; problem?: string }>): Promise<string> {
  const reading = await result;
  assert.equal(reading.kind, 'unreadable');
  return reading.problem!;
}

test('a public image is fetched, and its type is detected from its bytes', async () => {
  reset((_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(png));
  const reading = await fetcherWith()('http://public.test/picture?size=large#part');
  assert.deepEqual(reading, {
    kind: 'image',
    image: { bytes: png, mediaType: 'image/png', width: 9, height: 4 },
  });
  assert.equal(seen.connections, 1);
  const { host, cookie, authorization, referer, ...rest } = seen.headers[0] as Record<
    string,
    string
  >;
  assert.deepEqual(
    [host, cookie, authorization, referer],
    ['public.test', undefined, undefined, undefined],
  );
  assert.equal(rest['accept-encoding'], 'identity');
});

test('no hostile URL leads to a connection', async (t) => {
  assert.ok(hostileUrls.length >= 80 && new Set(hostileUrls).size === hostileUrls.length);
  reset((_request, response) => response.end(png));
  opened.length = 0;
  const fetcher = fetcherWith();
  for (const url of hostileUrls)
    await problemOf(fetcher(url)).catch((error: unknown) =>
      assert.fail(`${url}: ${String(error)}`),
    );
  t.diagnostic(`${hostileUrls.length} hostile URLs: ${seen.connections} connections`);
  assert.deepEqual({ connections: seen.connections, opened }, { connections: 0, opened: [] });
});

test('no hostile URL leads to a connection when a public host redirects to it', async (t) => {
  opened.length = 0;
  let location = '';
  reset((_request, response) => response.writeHead(302, { location }).end());
  // Relative to a public host these stay on that host and are harmless.
  const targets = hostileUrls.filter(
    (url) =>
      URL.parse(url, 'http://public.test/')?.host !== 'public.test' && !/[^\x21-\x7e]/.test(url),
  );
  for (location of targets) await problemOf(fetcherWith()('http://public.test/'));
  assert.ok(targets.length >= 80);
  t.diagnostic(
    `${targets.length} redirects to hostile URLs: ${seen.connections - targets.length} connections beyond the redirecting host`,
  );
  assert.equal(seen.connections, targets.length);
  assert.deepEqual(new Set(opened.flat()), new Set([publicAddress]));
});

test('a name that resolves to a non-public address is refused, even beside public ones', async (t) => {
  reset((_request, response) => response.end(png));
  for (const addresses of hostileAnswers) {
    const problem = await problemOf(
      fetcherWith({ resolve: async () => addresses })('https://evil.test/'),
    );
    assert.equal(
      problem,
      'must lead to a public address, and its host does not resolve to one',
      addresses.join(),
    );
  }
  await problemOf(
    fetcherWith({ resolve: () => Promise.reject(new Error('10.0.0.53 says no')) })(
      'http://evil.test/',
    ),
  );
  t.diagnostic(
    `${hostileAnswers.length} hostile answers of a resolver: ${seen.connections} connections`,
  );
  assert.equal(seen.connections, 0);
});

test('every spelling of a non-public address is refused', () => {
  const octet = fc.integer({ min: 0, max: 255 });
  const rest = fc.tuple(octet, octet, octet);
  const first = fc.constantFrom(0, 10, 127, 224, 240, 255);
  const spell = fc.constantFrom<(value: number) => string>(
    String,
    (value) => `0x${value.toString(16)}`,
    (value) => `0${value.toString(8)}`,
  );
  const host = fc.tuple(first, rest, spell, fc.boolean()).map(([a, [b, c, d], write, isWhole]) => {
    return isWhole ? write(((a * 256 + b) * 256 + c) * 256 + d) : [a, b, c, d].map(write).join('.');
  });
  fc.assert(
    fc.property(
      host,
      (text) =>
        !isPublicAddress(new URL(`http://${text}/`).hostname) && !isPublicAddress(`0${text}`),
    ),
  );
});

test('the addresses of well-known public hosts are public', () => {
  const known = [
    '1.1.1.1',
    '8.8.8.8',
    '93.184.215.14',
    '140.82.121.4',
    '172.15.0.1',
    '172.32.0.1',
    '100.63.0.1',
    '100.128.0.1',
    '192.167.1.1',
  ];
  for (const address of [
    ...known,
    '2606:4700:4700::1111',
    '2a00:1450:4001:810::200e',
    '2001:4860:4860::8888',
  ]) {
    assert.ok(isPublicAddress(address), address);
  }
});

test('DNS rebinding has no effect: the connection uses the checked address', async (t) => {
  reset((_request, response) => response.end(png));
  // Uses the real connector. Only this name and port are allowed inside; it stands for a public
  // host whose second address is the victim.
  let lookups = 0;
  const rebinding: Resolve = async () => (++lookups === 1 ? ['127.0.0.1'] : ['127.0.0.2']);
  const options = {
    allowedHosts: [`rebind.test:${port}`],
    resolve: rebinding,
    openConnector: checkedConnector,
  };
  const reading = await fetcherWith(options)(`http://rebind.test:${port}/`);
  assert.equal(reading.kind, 'image');
  assert.deepEqual(
    { lookups, addresses: seen.addresses },
    { lookups: 1, addresses: ['127.0.0.1'] },
  );

  // Public on the first lookup, private on the second, which a redirect triggers.
  reset((_request, response) =>
    response.writeHead(302, { location: 'http://rebind.test/again' }).end(),
  );
  lookups = 0;
  opened.length = 0;
  const toPrivate: Resolve = async () => (++lookups === 1 ? [publicAddress] : ['127.0.0.1']);
  await problemOf(fetcherWith({ resolve: toPrivate })('http://rebind.test/'));
  t.diagnostic(
    `rebinding: ${opened.flat().filter((address) => !isPublicAddress(address)).length} connections to a non-public address`,
  );
  assert.deepEqual(
    { lookups, connections: seen.connections, opened },
    { lookups: 2, connections: 1, opened: [[publicAddress]] },
  );
});

test('the operator allows exactly one host and port', async () => {
  reset((_request, response) => response.end(png));
  const fetcher = fetcherWith({
    allowedHosts: [`127.0.0.1:${port}`, 'Media.internal'],
    openConnector: checkedConnector,
    resolve: async () => ['10.0.0.1'],
  });
  assert.equal((await fetcher(`http://127.0.0.1:${port}/`)).kind, 'image');
  assert.equal((await fetcher(`http://2130706433:${port}/`)).kind, 'image');
  for (const url of [
    `http://127.0.0.2:${port}/`,
    `http://127.0.0.1:${port + 1}/`,
    'http://127.0.0.1/',
    'http://media.internal:8080/',
    'http://sub.media.internal/',
  ]) {
    await problemOf(fetcher(url));
  }
  assert.equal(seen.connections, 2);
});

test('three redirects are followed, a fourth is not, and one without a location is a plain answer', async () => {
  let left = 3;
  reset((_request, response) => {
    if (left-- > 0) response.writeHead(307, { location: `https://public.test/${left}` }).end();
    else response.end(png);
  });
  assert.equal((await fetcherWith()('http://public.test/')).kind, 'image');
  left = 4;
  assert.equal(
    await problemOf(fetcherWith()('http://public.test/')),
    'redirects more than 3 times',
  );
  reset((_request, response) => response.writeHead(302).end('internal secret'));
  assert.equal(
    await problemOf(fetcherWith()('http://public.test/')),
    'could not be fetched: its host answered with status 302',
  );
});

test('only the status of a host’s answer is revealed', async () => {
  for (const status of [204, 206, 304, 401, 404, 500]) {
    reset((_request, response) =>
      response
        .writeHead(status, { 'x-secret': 'inside' })
        .end(status === 204 || status === 304 ? undefined : 'internal secret'),
    );
    assert.equal(
      await problemOf(fetcherWith()('http://public.test/')),
      `could not be fetched: its host answered with status ${status}`,
    );
  }
  reset((request) => request.socket.end('SSH-2.0-OpenSSH_9.6\r\n'));
  assert.equal(
    await problemOf(fetcherWith()('http://public.test/')),
    'could not be fetched: the connection to its host failed',
  );
  reset((_request, response) =>
    response.end('<svg xmlns="http://www.w3.org/2000/svg">secret</svg>'),
  );
  assert.equal(
    await problemOf(fetcherWith()('http://public.test/')),
    'is not a PNG, JPEG, WebP or GIF image',
  );
});

test('the size limit applies to Content-Length, while reading, and to all images together', async () => {
  let written = 0;
  reset((_request, response) => {
    response.writeHead(200, { 'content-length': '1000001' });
    response.write(png);
  });
  assert.equal(
    await problemOf(fetcherWith()('http://public.test/')),
    'is larger than 1000000 bytes',
  );
  reset((_request, response) => {
    response.write(png);
    const more = setInterval(
      () => response.write(Buffer.alloc(64_000), () => (written += 64_000)),
      1,
    );
    response.on('close', () => clearInterval(more));
  });
  assert.equal(
    await problemOf(fetcherWith()('http://public.test/')),
    'is larger than 1000000 bytes',
  );
  assert.ok(written < 4_000_000, `${written} bytes were taken`);
  const small = { budget: new ByteBudget(100_000, new FetchedBytes(1).enter('a')) };
  assert.equal(
    await problemOf(fetcherWith()('http://public.test/', small)),
    'makes the images of this request larger than 100000 bytes together',
  );
});

test('an endless body with an error status is abandoned at once', async () => {
  for (const status of [404, 302, 200]) {
    const closed = Promise.withResolvers<void>();
    reset((_request, response) => {
      response.on('close', closed.resolve);
      response
        .writeHead(status, { location: 'http://10.0.0.1/', 'content-length': '99999999' })
        .write('x'.repeat(100));
    });
    await problemOf(fetcherWith()('http://public.test/'));
    await closed.promise;
  }
});

test('a body that is not an image is not read to its end', async () => {
  const closed = Promise.withResolvers<void>();
  reset((_request, response) => {
    response.on('close', closed.resolve);
    response.write('<html>'.repeat(10));
  });
  assert.equal(
    await problemOf(fetcherWith()('http://public.test/')),
    'is not a PNG, JPEG, WebP or GIF image',
  );
  await closed.promise;
});

test('a host that is slow in its headers, body or name server is abandoned', async () => {
  const late = 'did not arrive within 0.2 seconds';
  reset(() => {});
  assert.equal(await problemOf(fetcherWith({ totalMs: 200 })('http://public.test/')), late);
  reset((_request, response) => void response.write(png.subarray(0, 20)));
  assert.equal(await problemOf(fetcherWith({ totalMs: 200 })('http://public.test/')), late);
  assert.equal(
    await problemOf(
      fetcherWith({ totalMs: 200, resolve: () => new Promise(() => {}) })('http://public.test/'),
    ),
    late,
  );
});

test('a caller that gives up gets an error, and the connection closes', async () => {
  const closed = Promise.withResolvers<void>();
  const caller = new AbortController();
  reset((_request, response) => {
    response.on('close', closed.resolve);
    response.write(png.subarray(0, 20), () => caller.abort(new Error('the client left')));
  });
  await assert.rejects(
    fetcherWith()('http://public.test/', { signal: caller.signal }),
    /the client left/,
  );
  await closed.promise;
  await assert.rejects(
    fetcherWith()('http://public.test/', { signal: caller.signal }),
    /the client left/,
  );
});
