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
import { setRows } from '../support/rows.ts';
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
const newKey = (options: KeyOptions = {}) => gateway.makeKey({ creditUsd: 5, ...options });
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

  const headed = (headers: Sent['headers']): Sent => ({ ...sent, headers });
  const others: Readonly<Record<string, readonly [hit: boolean, sent: Sent]>> = {
    'a byte of the body': [false, { body: sent.body.replace('ever', 'evil') }],
    'a space in the body': [true, { body: ` ${sent.body}` }],
    'a body that is no JSON': [false, { body: sent.body.replace('{', '[') }],
    'an Idempotency-Key': [true, headed({ 'idempotency-key': 'new' })],
    'the cache refused': [false, headed({ 'x-service-cache': 'false' })],
    'the cache header': [true, headed({ 'x-service-cache': 'true' })],
    'an empty header': [false, headed({ 'x-service-cache': '' })],
    'another version': [false, headed({ 'anthropic-version': 'undefined' })],
    'another beta': [false, headed({ 'anthropic-beta': 'x' })],
    'another type': [false, headed({ 'content-type': 'text/plain' })],
    'a type in other words': [true, headed({ 'content-type': 'application/json; charset=utf-8' })],
    'a compressed body': [false, headed({ 'content-encoding': 'gzip' })],
    'an expectation': [true, headed({ expect: '100-continue' })],
    'a query': [true, { ...sent, path: `${chat.path}?api_key=x` }],
    'another key beside it': [true, headed({ 'x-api-key': 'something' })],
  };
  for (const [what, [hit, other]] of Object.entries(others)) {
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

/** Each with the code of the refusal; null: it runs again. */
const changes: readonly (readonly [
  what: string,
  table: 'api_keys' | 'accounts',
  changed: object,
  refusal: string | null,
])[] = [
  ['a revoked key', 'api_keys', { revoked_at_ms: 1 }, 'invalid_api_key'],
  ['an expired key', 'api_keys', { expires_at_ms: 1 }, 'invalid_api_key'],
  [
    'another list of models',
    'api_keys',
    { models: '["claude-haiku-4-5"]' },
    'model_not_allowed_for_key',
  ],
  [
    'a list of addresses',
    'api_keys',
    { allowed_addresses: '["192.0.2.1"]' },
    'address_not_allowed',
  ],
  ['a frozen account', 'accounts', { frozen: 1 }, 'account_frozen'],
  ['a purged account', 'accounts', { cache_generation: 1 }, null],
  ['an account that keeps nothing', 'accounts', { retain_responses: 0 }, null],
];

for (const [what, table, changed, refusal] of changes) {
  test(`${what} ends hits`, async () => {
    const { key, id, account } = await newKey();
    const sent = { body: bodyOf() };
    const known = await askTwice(key, sent);
    await setRows(gateway.database, table, { id: table === 'accounts' ? account : id }, changed);
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
