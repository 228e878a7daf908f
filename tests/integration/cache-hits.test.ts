// Cache hits: which requests count as the same, what a hit costs and counts against, and what ends
// hits.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { endpoint, endpoints } from '../support/endpoints.ts';
import { hooksOfFile } from '../support/file-hooks.ts';
import { type KeyOptions, startGateway } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';
import { noticeKeyChanges } from '../support/notice-key-changes.ts';
import { asReplayed, numberedAnswers } from '../support/numbered-answers.ts';
import { TestClock } from '../support/test-clock.ts';

const chat = endpoint('chat');
const clock = new TestClock();

const hooks = hooksOfFile();
const gateway = await startGateway({}, { clock });
hooks.after(() => gateway.stop());
gateway.upstream.on(chat.upstreamPath, numberedAnswers(chat));

type Sent = {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
};

const bodyOf = (fields: object = {}) => JSON.stringify(chat.body({ temperature: 0, ...fields }));
const newKey = (options: KeyOptions = {}) =>
  gateway.makeKey({ mode: 'live', creditUsd: 5, ...options });
const ask = (key: string, { path = chat.path, headers, body }: Sent): Promise<Reply> =>
  gateway.post(path, { key, headers, body });
const isHit = ({ headers }: Reply) => headers['x-service-cache'] === 'hit';

/** Returns the hit. */
async function askTwice(key: string, sent: Sent): Promise<Reply> {
  await ask(key, sent);
  const hit = await ask(key, sent);
  assert.ok(isHit(hit), hit.text);
  return hit;
}

type Asked = { readonly fields?: object; readonly headers?: Readonly<Record<string, string>> };
const zero: Asked = { fields: { temperature: 0 } };
const warm: Asked = { fields: { temperature: 0.7 } };
const cached = (value: string): Asked => ({ headers: { 'x-service-cache': value } });
const beta = (name: string): Asked => ({ ...zero, headers: { 'anthropic-beta': name } });
const version: Asked = { ...zero, headers: { 'anthropic-version': '2023-06-01' } };
const unread: Asked = { ...zero, ...cached('false') };
const asked: Asked = { ...warm, ...cached('true') };

/** Two requests; `next` defaults to `first`. `hit`: the second gets the first one's answer. */
const rules: readonly (readonly [rule: string, hit: boolean, first: Asked, next?: Asked])[] = [
  ['temperature 0', true, zero],
  ['temperature -0', true, zero, { fields: { temperature: -0 } }],
  ['temperature 0 and the header true', true, { ...zero, ...cached('true') }],
  ['the header in capitals', true, cached('True')],
  ['temperature 0 and the header false', false, unread],
  ['false reads nothing', false, zero, unread],
  ['false writes nothing', false, unread, zero],
  ['another temperature', false, warm],
  ['another temperature and the header true', true, asked],
  ['an answer requested without the cache', false, warm, asked],
  ['no temperature', false, {}],
  ['no temperature and the header true', true, cached('true')],
  ['another body', false, zero, { fields: { temperature: 0, top_p: 0.5 } }],
  ['another beta', false, beta('one'), beta('two')],
  ['another version', false, version, zero],
];

for (const at of endpoints) {
  for (const stream of [false, true]) {
    describe(`${at.name}, ${stream ? 'streamed' : 'whole'}`, () => {
      for (const [rule, hit, first, next = first] of rules) {
        test(`${rule}: ${hit ? 'answered from the cache' : 'run again'}`, async () => {
          gateway.upstream.on(at.upstreamPath, numberedAnswers(at));
          const earlier = gateway.upstream.requests.length;
          const { key } = await newKey();
          const send = ({ fields, headers }: Asked) =>
            gateway.post(at.path, { key, headers, body: at.body({ stream, ...fields }) });
          const [one, other] = [await send(first), await send(next)];
          assert.deepEqual([isHit(one), isHit(other)], [false, hit], other.text);
          assert.deepEqual([one.costMicros === 0, other.costMicros === 0], [false, hit]);
          if (hit) {
            assert.equal(other.text, asReplayed(one.text));
            assert.equal(other.headers['content-type'], one.headers['content-type']);
            assert.ok(other.headers['x-service-balance-cents']);
          }
          const runs = gateway.upstream.requests.length - earlier;
          assert.equal(runs, hit ? 1 : 2);
          assert.equal((await gateway.usage(key)).length, runs);
        });
      }
    });
  }
}

describe('which requests count as the same', () => {
  const sent: Sent = { body: bodyOf({ messages: [{ role: 'user', content: 'Same as ever' }] }) };
  let key: string;
  let account: string;
  let known: Reply;
  before(async () => {
    ({ key, account } = await newKey());
    known = await askTwice(key, sent);
  });

  const others: Readonly<Record<string, { readonly sent: Sent; readonly hit: boolean }>> = {
    'a byte of the body': { sent: { body: sent.body.replace('ever', 'evil') }, hit: false },
    'a space in the body': { sent: { body: ` ${sent.body}` }, hit: true },
    'a body that is no JSON': { sent: { body: sent.body.replace('{', '[') }, hit: false },
    'an Idempotency-Key': { sent: { ...sent, headers: { 'idempotency-key': 'new' } }, hit: true },
    'the cache refused': { sent: { ...sent, headers: { 'x-service-cache': 'false' } }, hit: false },
    'the cache header': { sent: { ...sent, headers: { 'x-service-cache': 'true' } }, hit: true },
    'an empty header': { sent: { ...sent, headers: { 'x-service-cache': '' } }, hit: false },
    'another version': {
      sent: { ...sent, headers: { 'anthropic-version': 'undefined' } },
      hit: false,
    },
    'another beta': { sent: { ...sent, headers: { 'anthropic-beta': 'x' } }, hit: false },
    'another type': { sent: { ...sent, headers: { 'content-type': 'text/plain' } }, hit: false },
    'a type in other words': {
      sent: { ...sent, headers: { 'content-type': 'application/json; charset=utf-8' } },
      hit: true,
    },
    'a compressed body': { sent: { ...sent, headers: { 'content-encoding': 'gzip' } }, hit: false },
    'an expectation': { sent: { ...sent, headers: { expect: '100-continue' } }, hit: true },
    'a query': { sent: { ...sent, path: `${chat.path}?api_key=x` }, hit: true },
    'another key beside it': {
      sent: { ...sent, headers: { 'x-api-key': 'something' } },
      hit: true,
    },
  };
  for (const [what, { sent: other, hit }] of Object.entries(others)) {
    test(`${what}: ${hit ? 'the same' : 'another'}`, async () => {
      const reply = await ask(key, other);
      assert.equal(isHit(reply), hit, reply.text);
      if (hit) assert.equal(reply.text, known.text);
      else assert.notEqual(reply.text, known.text);
    });
  }

  test('another key of the account gets the answer, another account never does', async () => {
    const stranger = await ask((await newKey()).key, sent);
    assert.deepEqual([stranger.status, isHit(stranger)], [200, false]);
    assert.notEqual(stranger.text, known.text);
    const sibling = await ask((await newKey({ account })).key, sent);
    assert.deepEqual([isHit(sibling), sibling.text], [true, known.text]);
    assert.equal(
      (await ask(`${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`, sent)).status,
      401,
    );
  });
});

test('text outside ASCII and Latin-1 is returned unchanged', async () => {
  const { key } = await gateway.makeKey({ mode: 'test' });
  for (const said of ['Grüße für 5 £', 'こんにちは, 5 €', '😀'.repeat(30_000)]) {
    const sent = {
      body: bodyOf({ messages: [{ role: 'user', content: said }], model: 'gpt-6-luna' }),
    };
    const first = await ask(key, sent);
    assert.ok(first.text.includes(said.slice(0, 5)));
    const { text } = await askTwice(key, sent);
    assert.deepEqual(
      { ...JSON.parse(text), usage: null },
      { ...first.json(), usage: null },
      'all but the cost, which is nothing now',
    );
  }
});

test('each hit counts against the request limit', async () => {
  const { key } = await newKey({ requestsPerMinute: 3 });
  const sent = { body: bodyOf({ seed: 3 }) };
  await askTwice(key, sent);
  assert.ok(isHit(await ask(key, sent)));
  const refused = await ask(key, sent);
  assert.deepEqual([refused.status, refused.error.code], [429, 'rate_limit_exceeded']);
  assert.ok(refused.headers['retry-after']);
});

test('a hit shows the current balance', async () => {
  const { key } = await newKey();
  const sent = { body: bodyOf({ seed: 4 }) };
  const earlier = await askTwice(key, sent);
  const long = { text: 'word '.repeat(20_000), tokens: { input: 100, output: 20_000 } };
  gateway.answer(chat, long);
  const dear = await ask(key, { body: bodyOf({ seed: 5, max_completion_tokens: 100_000 }) });
  gateway.upstream.on(chat.upstreamPath, numberedAnswers(chat));
  assert.equal(dear.status, 200, dear.text);
  const later = await ask(key, sent);
  assert.ok(isHit(later));
  assert.equal(later.headers['x-service-balance-cents'], dear.headers['x-service-balance-cents']);
  assert.ok(
    Number(later.headers['x-service-balance-cents']) <
      Number(earlier.headers['x-service-balance-cents']),
  );
});

const changes: Readonly<
  Record<
    string,
    { readonly change: (ids: Ids) => Promise<unknown>; readonly refusal: string | null }
  >
> = {
  'a revoked key': {
    change: ({ id }) => setKey(id, { revoked_at_ms: 1 }),
    refusal: 'invalid_api_key',
  },
  'an expired key': {
    change: ({ id }) => setKey(id, { expires_at_ms: 1 }),
    refusal: 'invalid_api_key',
  },
  'another list of models': {
    change: ({ id }) => setKey(id, { models: '["claude-haiku-4-5"]' }),
    refusal: 'model_not_allowed_for_key',
  },
  'a list of addresses': {
    change: ({ id }) => setKey(id, { allowed_addresses: '["192.0.2.1"]' }),
    refusal: 'address_not_allowed',
  },
  'a frozen account': {
    change: ({ account }) => setAccount(account, { frozen: 1 }),
    refusal: 'account_frozen',
  },
  'a purged account': {
    change: ({ account }) => setAccount(account, { cache_generation: 1 }),
    refusal: null,
  },
  'an account that keeps nothing': {
    change: ({ account }) => setAccount(account, { retain_responses: 0 }),
    refusal: null,
  },
};
type Ids = { readonly id: string; readonly account: string };
const setKey = (id: string, values: object) =>
  gateway.database.write.updateTable('api_keys').set(values).where('id', '=', id).execute();
const setAccount = (id: string, values: object) =>
  gateway.database.write.updateTable('accounts').set(values).where('id', '=', id).execute();

for (const [what, { change, refusal }] of Object.entries(changes)) {
  test(`${what} ends hits`, async () => {
    const { key, ...ids } = await newKey();
    const sent = { body: bodyOf() };
    const known = await askTwice(key, sent);
    await change(ids);
    await noticeKeyChanges(gateway, { clock });
    const reply = await ask(key, sent);
    if (refusal) assert.equal(reply.error.code, refusal);
    else
      assert.deepEqual(
        [reply.status, isHit(reply), reply.text === known.text],
        [200, false, false],
      );
  });
}

test('a key that expires ends hits at that moment', async () => {
  const expiresAtMs = clock.nowMs() + 60_000;
  const { key } = await newKey({ expiresAtMs });
  await noticeKeyChanges(gateway, { clock });
  const sent = { body: bodyOf({ seed: 6 }) };
  await askTwice(key, sent);
  await clock.advance(expiresAtMs - clock.nowMs() - 1);
  assert.ok(isHit(await ask(key, sent)));
  await clock.advance(1);
  assert.match((await ask(key, sent)).error.message, /This key expired/);
});
