// Limits of keys and accounts, as a client sees them: requests and tokens per minute, concurrent
// requests, addresses, expiry, wrong keys.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { changeTerms } from '../../src/domain/accounts/manage-accounts.ts';
import { answerContent } from '../support/answers.ts';
import { endpoint, endpoints } from '../support/endpoints.ts';
import { startGateway } from '../support/gateway.ts';
import { noticeKeyChanges } from '../support/notice-key-changes.ts';
import { TestClock } from '../support/test-clock.ts';
import { until } from '../support/until.ts';
import { behind, hang } from '../support/upstream.ts';

const chat = endpoint('chat');
const prompt = (text: string, more: object = {}) => ({
  messages: [{ role: 'user', content: text }],
  ...more,
});
/** The sandbox answers with this many tokens. */
const askTokens = (key: string, tokens: number, most: number) =>
  gateway.ask(chat, key, prompt(`sandbox: tokens=${tokens}`, { max_completion_tokens: most }));
const perMinute = { failed: 6 };

const clock = new TestClock();
const config = {
  server: { trust_proxy: ['127.0.0.1', '10.0.0.0/8'] },
  limits: { failed_keys_per_minute: perMinute.failed },
};
const gateway = await startGateway(config, { clock });
after(() => gateway.stop());

const noticeChanges = () => noticeKeyChanges(gateway, { clock });
const answer = answerContent('chat', { text: 'yes', tokens: { input: 4, output: 1 } });

void describe('requests a minute', () => {
  test('a success and a refusal show the limit and what is left', async () => {
    const { key } = await gateway.makeKey({ requestsPerMinute: 2 });
    for (const { path, body } of endpoints.slice(0, 2)) {
      const reply = await gateway.post(path, { key, body: body() });
      assert.equal(reply.headers['x-ratelimit-limit-requests'], '2');
      assert.match(String(reply.headers['x-ratelimit-reset-requests']), /^\d+s|1m0s$/);
      assert.equal(reply.headers['ratelimit-policy'], '"requests";q=2;w=60');
      assert.match(String(reply.headers['ratelimit']), /^"requests";r=[01];t=\d+$/);
    }
    const refused = await gateway.ask(chat, key);
    assert.equal(refused.status, 429);
    assert.equal(refused.headers['x-ratelimit-remaining-requests'], '0');
    assert.equal(refused.headers['retry-after'], '30');
    assert.equal(refused.headers['ratelimit'], '"requests";r=0;t=30');
    const { error } = refused.json<{ error: { code: string; details: object } }>();
    assert.equal(error.code, 'rate_limit_exceeded');
    const { reset_seconds: _reset, ...details } = error.details as Record<string, unknown>;
    assert.deepEqual(details, {
      limit: 'requests_per_minute',
      scope: 'key',
      maximum: 2,
      required: 1,
      remaining: 0,
    });
    await clock.advance(29_999);
    assert.equal((await gateway.ask(chat, key)).status, 429);
    await clock.advance(1);
    assert.equal((await gateway.ask(chat, key)).status, 200);
  });

  test("an account's limit covers all its keys, separately for live and test keys", async () => {
    const first = await gateway.makeKey();
    await changeTerms(gateway.database.write, first.account, { limits: { requestsPerMinute: 3 } });
    const second = await gateway.makeKey({ account: first.account, requestsPerMinute: 10 });
    const live = await gateway.makeKey({ account: first.account, mode: 'live', creditUsd: 1 });
    gateway.upstream.on(chat.upstreamPath, answer);
    const ask = (key: string) => gateway.ask(chat, key);
    const remaining = [];
    for (const { key } of [first, second, first])
      remaining.push((await ask(key)).headers['x-ratelimit-remaining-requests']);
    assert.deepEqual(remaining, ['2', '1', '0']);
    const refused = await ask(second.key);
    assert.match(
      refused.error.message,
      /^This account, with all its keys, may send 3 requests a minute/,
    );
    assert.equal((await ask(live.key)).status, 200);
    // A request refused by the account's limit does not count against the key's.
    await changeTerms(gateway.database.write, first.account, {
      limits: { requestsPerMinute: null },
    });
    await noticeChanges();
    assert.equal((await ask(second.key)).headers['x-ratelimit-remaining-requests'], '8');
  });
});

void describe('tokens a minute', () => {
  test('an answer counts by the tokens that it used, and the next request is refused until the minute has room', async () => {
    const { key } = await gateway.makeKey({ tokensPerMinute: 1_000, requestsPerMinute: 50 });
    const first = await askTokens(key, 300, 900);
    assert.equal(first.headers['x-ratelimit-limit-tokens'], '1000');
    const usage = first.json<{ usage: { total_tokens: number } }>().usage.total_tokens;
    const second = await askTokens(key, 5, 100);
    const taken = 1_000 - Number(second.headers['x-ratelimit-remaining-tokens']);
    assert.ok(taken >= usage + 80 && taken <= usage + 160, `${taken} after a use of ${usage}`);
    const refused = await askTokens(key, 5, 900);
    assert.equal(refused.status, 429);
    assert.match(
      refused.error.message,
      /may send 1000 tokens a minute\. This request needs 9\d\d, and 6\d\d are left\. Retry in \d+ s\./,
    );
    assert.ok(Number(refused.headers['retry-after']) >= 10);
    assert.ok('x-ratelimit-remaining-tokens' in refused.headers);
    assert.equal(
      refused.headers['ratelimit-policy'],
      '"requests";q=50;w=60, "tokens";q=1000;qu="tokens";w=60',
    );
    assert.match(
      String(refused.headers['ratelimit']),
      new RegExp(
        `^"requests";r=\\d+;t=\\d+, "tokens";r=6\\d\\d;t=${refused.headers['retry-after']}$`,
      ),
    );
  });

  test('a request larger than a whole minute runs in an unused minute, and delays later ones', async () => {
    const { key } = await gateway.makeKey({ tokensPerMinute: 200 });
    const large = await askTokens(key, 500, 4_000);
    assert.equal(large.status, 200, large.text);
    const refused = await askTokens(key, 5, 10);
    assert.equal(refused.status, 429);
    const seconds = Number(refused.headers['retry-after']);
    assert.ok(seconds > 90 && seconds < 120, `500 tokens at 200 a minute: ${seconds} s`);
    const small = () => askTokens(key, 5, 10);
    await clock.advance((seconds - 1) * 1_000);
    assert.equal((await small()).status, 429);
    await clock.advance(1_000);
    assert.equal((await small()).status, 200);
  });

  test('streams count; failures, replays and unanswered requests use no tokens', async () => {
    const { key } = await gateway.makeKey({ tokensPerMinute: 1_000 });
    const remaining = async () => {
      const reply = await askTokens(key, 1, 1);
      return Number(reply.headers['x-ratelimit-remaining-tokens']);
    };
    const atFirst = await remaining();
    await gateway.ask(chat, key, prompt('sandbox: status=500', { max_completion_tokens: 500 }));
    assert.ok((await remaining()) > atFirst - 60);
    const headers = { 'idempotency-key': 'once' };
    const asked = prompt('sandbox: tokens=200', { stream: true, max_completion_tokens: 400 });
    const body = chat.body(asked);
    await gateway.post(chat.path, { key, headers, body });
    const afterStream = await remaining();
    assert.ok(
      afterStream < atFirst - 200 && afterStream > atFirst - 300,
      `${atFirst}, then ${afterStream}`,
    );
    for (let count = 0; count < 5; count++) {
      const replay = await gateway.post(chat.path, { key, headers, body });
      assert.equal(replay.headers['x-service-cache'], 'idempotent-replay');
    }
    assert.ok((await remaining()) > afterStream - 60);
  });
});

void describe('concurrent requests', () => {
  test('one more than the limit is refused; however a request ends, its slot is free again', async () => {
    const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5, concurrentRequests: 2 });
    const ask = (options = {}) => gateway.ask(chat, key, options);
    for (const stream of [false, true]) {
      const earlier = gateway.upstream.requests.length;
      gateway.upstream.on(chat.upstreamPath, hang);
      const left = [0, 1].map(() => gateway.open(chat.path, { key, body: chat.body({ stream }) }));
      await gateway.upstream.request(earlier + 1);
      const refused = await ask();
      assert.equal(refused.status, 429);
      assert.match(
        refused.error.message,
        /^This key may run 2 requests at once, and as many are running/,
      );
      assert.equal(refused.headers['retry-after'], '1');
      // The clients leave; their requests are read on until the provider's time is over.
      for (const { request } of left) request.destroy();
      gateway.upstream.on(chat.upstreamPath, answer);
      await clock.advance(10_000);
      assert.equal((await ask()).status, 429);
      await clock.advanceUntil(() => gateway.program.app.gateway.runs.count === 0, {
        stepMs: 5_000,
        withinMs: 2_400_000,
      });
      await until(async () => (await ask()).status === 200);
    }
    gateway.upstream.on(chat.upstreamPath, (response) => void response.writeHead(500).end());
    for (let count = 0; count < 3; count++) assert.ok((await ask()).status >= 500);
    gateway.upstream.on(chat.upstreamPath, answer);
    for (let count = 0; count < 5; count++)
      assert.equal((await ask()).status, 200, 'one after the other');
  });

  test('a refused request counts against no other limit', async () => {
    const limits = { requestsPerMinute: 3, tokensPerMinute: 1_000, concurrentRequests: 1 };
    const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5, ...limits });
    const ask = (options = {}) => gateway.ask(chat, key, options);
    const running = Promise.withResolvers<void>();
    const earlier = gateway.upstream.requests.length;
    gateway.upstream.on(chat.upstreamPath, behind(running.promise, answer), answer);
    const first = ask();
    await gateway.upstream.request(earlier);
    const refusals = async (limit: string, options = {}) => {
      for (let count = 0; count < 5; count++) {
        const refused = await ask(options);
        assert.equal(refused.status, 429);
        assert.equal(refused.error.details!['limit'], limit);
      }
    };
    await refusals('concurrent_requests');
    running.resolve();
    assert.equal((await first).status, 200);
    await refusals('tokens_per_minute', { max_completion_tokens: 2_000 });
    assert.equal((await ask()).status, 200);
    assert.equal((await ask()).status, 200);
    await refusals('requests_per_minute');
  });

  test('a request that waits for one with its Idempotency-Key uses no slot, nor does a replay', async () => {
    const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5, concurrentRequests: 1 });
    const ask = (name: string) =>
      gateway.post(chat.path, { key, headers: { 'idempotency-key': name }, body: chat.body() });
    const { runs } = gateway.program.app.gateway;
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    gateway.upstream.on(
      chat.upstreamPath,
      behind(first.promise, answer),
      behind(second.promise, answer),
      answer,
    );
    const replies = Promise.all([ask('a'), ask('a'), ask('a')]);
    await until(() => runs.count === 3);
    first.resolve();
    assert.deepEqual(
      (await replies).map(({ status }) => status),
      [200, 200, 200],
    );
    const earlier = gateway.upstream.requests.length;
    const running = ask('b');
    await gateway.upstream.request(earlier);
    assert.equal((await ask('a')).headers['x-service-cache'], 'idempotent-replay');
    assert.equal((await ask('c')).status, 429);
    second.resolve();
    assert.equal((await running).status, 200);
    assert.equal((await ask('c')).status, 200, 'a refusal leaves the key free');
  });

  test("an account's limit covers all its keys", async () => {
    const first = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
    const second = await gateway.makeKey({ mode: 'live', account: first.account });
    await changeTerms(gateway.database.write, first.account, { limits: { concurrentRequests: 1 } });
    const gate = Promise.withResolvers<void>();
    gateway.upstream.on(chat.upstreamPath, behind(gate.promise, answer), answer);
    const earlier = gateway.upstream.requests.length;
    const running = gateway.ask(chat, first.key);
    await gateway.upstream.request(earlier);
    const refused = await gateway.ask(chat, second.key);
    assert.match(
      refused.error.message,
      /^This account, with all its keys, may run 1 request at once/,
    );
    gate.resolve();
    await running;
    assert.equal((await gateway.ask(chat, second.key)).status, 200);
  });
});

void describe('restrictions of a key', () => {
  const from = (address: string) => ({ 'x-forwarded-for': address });

  test('only the allowed addresses of the key and its account may use it', async () => {
    const { key, account } = await gateway.makeKey({
      allowedAddresses: ['192.0.2.0/24', '2001:db8::/32'],
    });
    const ask = (address: string) => gateway.get('/v1/balance', { key, headers: from(address) });
    for (const address of ['192.0.2.9', '::ffff:192.0.2.9', '2001:db8::1', '192.0.2.9, 10.1.2.3']) {
      assert.equal((await ask(address)).status, 200, address);
    }
    // Azure's Application Gateway and others add ports.
    for (const address of ['192.0.2.9:5432', '[2001:db8::1]:443', '[2001:db8::1], 10.1.2.3:80'])
      assert.equal((await ask(address)).status, 200, address);
    // The last entry is what a client may write before the address that the proxy adds.
    const withPorts = ['192.0.3.9:80', '192.0.2.9:x', '[192.0.3.9]:80'];
    const others = ['192.0.3.9', '2001:db9::1', 'unknown', '192.0.2.9, 203.0.113.1'];
    for (const address of [...others, ...withPorts]) {
      const refused = await ask(address);
      assert.equal(refused.status, 403, address);
      assert.equal(refused.error.code, 'address_not_allowed');
    }
    await changeTerms(gateway.database.write, account, {
      limits: { allowedAddresses: ['192.0.2.128/25'] },
    });
    await noticeChanges();
    assert.equal((await ask('192.0.2.9')).status, 403);
    assert.equal((await ask('192.0.2.129')).status, 200);
  });

  test('an expired key is refused, even to a client that used it before', async () => {
    const expiresAtMs = clock.nowMs() + 1_500;
    const { key } = await gateway.makeKey({ expiresAtMs });
    assert.equal((await gateway.ask(chat, key)).status, 200);
    await clock.advance(1_499);
    assert.equal((await gateway.ask(chat, key)).status, 200);
    await clock.advance(1);
    const refused = await gateway.ask(chat, key);
    assert.equal(refused.status, 401);
    assert.match(
      refused.error.message,
      new RegExp(`expired at ${new Date(expiresAtMs).toISOString()}`),
    );
  });
});

void describe('wrong keys', () => {
  const ask = (key: string, address: string) =>
    gateway.get('/v1/balance', { key, headers: { 'x-forwarded-for': address } });
  const wrong = 'tg_test_wrong';

  test('after several a minute an address must wait; others need not', async () => {
    const address = '198.51.100.1';
    for (let count = 0; count < perMinute.failed; count++)
      assert.equal((await ask(wrong, address)).status, 401);
    const refused = await ask(wrong, address);
    assert.equal(refused.status, 429);
    assert.equal(refused.error.code, 'rate_limit_exceeded');
    assert.equal(refused.headers['retry-after'], '10');
    assert.equal((await ask(wrong, '198.51.100.2')).status, 401);
    assert.equal(
      (await ask(wrong, `10.9.9.9, ${address}`)).status,
      429,
      'an address that the client prepends is not trusted',
    );
    await clock.advance(10_000);
    assert.equal(
      (await ask(wrong, address)).status,
      401,
      'one more may be tried every ten seconds',
    );
    assert.equal((await ask(wrong, address)).status, 429);
  });

  test('a valid key keeps working from that address: a known one, a new one, one whose account just changed', async () => {
    const address = '2001:db8:5::1';
    const known = await gateway.makeKey();
    assert.equal((await ask(known.key, address)).status, 200);
    for (let count = 0; count < 100; count++) await ask(wrong, `2001:db8:5::${count}`);
    assert.equal((await ask(wrong, address)).status, 429, 'a /64 is one client');
    assert.equal((await ask(known.key, address)).status, 200);
    const fresh = await gateway.makeKey();
    assert.equal((await ask(fresh.key, address)).status, 200);
    await changeTerms(gateway.database.write, known.account, { isFrozen: false });
    await noticeChanges();
    assert.equal((await ask(known.key, address)).status, 200);
  });

  test('well-formed invented keys are no longer looked up once the allowance is used', async () => {
    const address = '198.51.100.7';
    const madeUp = await gateway.makeKey();
    await gateway.database.write.deleteFrom('api_keys').where('id', '=', madeUp.id).execute();
    for (let count = 0; count < 60; count++) await ask(madeUp.key, address);
    const fresh = await gateway.makeKey();
    const late = await ask(fresh.key, address);
    assert.equal(late.status, 429);
    assert.ok(Number(late.headers['retry-after']) >= 1);
    assert.equal((await ask(fresh.key, '198.51.100.8')).status, 200);
    assert.equal((await ask(fresh.key, address)).status, 200, 'known by now');
    await changeTerms(gateway.database.write, fresh.account, { isFrozen: false });
    await noticeChanges();
    for (let count = 0; count < 10; count++) await ask(madeUp.key, address);
    assert.equal(
      (await ask(fresh.key, address)).status,
      200,
      'known although it must be looked up again',
    );
  });
});

void describe('the command line', () => {
  test('sets and clears the limits of keys and accounts, and lists them', async () => {
    const run = <Result = { id: string }>(line: string) =>
      gateway.program.cli<Result>(...line.split(' '));
    const fields = [
      'requests_per_minute',
      'tokens_per_minute',
      'concurrent_requests',
      'allowed_addresses',
      'expires_at',
    ];
    const listed = async (line: string, id: string) => {
      const all = await run<Record<string, unknown>[]>(line);
      const found = all.find((each) => each['id'] === id)!;
      return fields.map((name) => found[name]);
    };
    const { id: account } = await run('accounts create --name L --rpm 9 --concurrency 4');
    await run(`accounts update ${account} --tpm 70000 --rpm none --allow 10.0.0.0/8`);
    const ofAccount = [null, 70_000, 4, ['10.0.0.0/8'], undefined];
    assert.deepEqual(await listed('accounts list', account), ofAccount);
    const { id } = await run(
      `keys create --account ${account} --mode test --rpm 5 --tpm 900 --concurrency 0 --expires 2099-01-31 --allow 192.0.2.7,2001:db8::/32`,
    );
    const keys = `keys list --account ${account}`;
    const allowed = ['192.0.2.7', '2001:db8::/32'];
    assert.deepEqual(await listed(keys, id), [5, 900, 0, allowed, '2099-01-31T00:00:00.000Z']);
    await run(`keys update ${id} --tpm none --concurrency none --allow none --expires none`);
    assert.deepEqual(await listed(keys, id), [5, null, null, null, null]);
  });

  test('names the wrong option and a valid value', async () => {
    const { id } = await gateway.makeKey();
    const mistakes = [
      ['--allow', '10.0.0.0/33', /--allow.*10\.0\.0\.0\/33.*203\.0\.113\.7/],
      ['--expires', '2026-02-30', /--expires.*2030-01-31T18:00:00Z/],
      ['--expires', '2020-01-01', /--expires.*future.*keys revoke/],
      ['--tpm', 'many', /--tpm.*whole number/],
      ['--concurrency', '-1', /--concurrency.*whole number/],
    ] as const;
    await Promise.all(
      mistakes.map(async ([option, value, expected]) => {
        const failure = await gateway.program
          .cli('keys', 'update', id, `${option}=${value}`)
          .catch((error: unknown) => error);
        assert.match(
          String((failure as { stderr?: string }).stderr).replaceAll('\n', ' '),
          expected,
        );
      }),
    );
  });
});
