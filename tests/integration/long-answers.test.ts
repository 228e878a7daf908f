// Long answers: a repeat with the same Idempotency-Key and body gets them, and the cache has them. An
// answer that is not kept says so, and its repeat never runs and is never charged.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { answerContent } from '../support/answers.ts';
import { endpoint } from '../support/endpoints.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';
import { asReplayed } from '../support/numbered-answers.ts';
import { png } from '../support/images/local-image-provider.ts';
import { noise } from '../support/noise.ts';
import { answerJson } from '../support/upstream.ts';

const chat = endpoint('chat');
const limitBytes = 20_000;
const long = noise(60_000);
const tokens = { input: 10, output: 20 };
const generations = '/v1/images/generations';

let names = 0;
const newName = () => `order-${++names}`;

/** A PNG of as many bytes, which hardly compress. */
function largePng(bytes: number): Buffer {
  return Buffer.concat([png, Buffer.from(noise(bytes))]);
}

function ask(
  gateway: TestGateway,
  { path, key, body, name }: { path: string; key: string; body: object; name?: string },
): Promise<Reply> {
  return gateway.post(path, {
    key,
    body,
    ...(name !== undefined && { headers: { 'idempotency-key': name } }),
  });
}

const retentionOf = ({ headers, trailers }: Reply) =>
  headers['x-service-idempotency'] ?? trailers['x-service-idempotency'];

/** Asks twice under one key. Returns both answers, and checks that one request ran and was charged. */
async function twice(
  gateway: TestGateway,
  asked: { path: string; key: string; body: object; account: string },
  between: () => unknown = () => {},
): Promise<readonly [Reply, Reply]> {
  const earlier = gateway.upstream.requests.length;
  const named = { ...asked, name: newName() };
  const first = await ask(gateway, named);
  assert.equal(first.status, 200, first.text);
  const { postedMicros } = await gateway.balance(asked.account);
  await between();
  const second = await ask(gateway, named);
  assert.equal(gateway.upstream.requests.length - earlier, 1);
  assert.equal((await gateway.balance(asked.account)).postedMicros, postedMicros);
  return [first, second];
}

function assertNotRetained(first: Reply, second: Reply): void {
  assert.equal(retentionOf(first), 'not-retained');
  assert.deepEqual([second.status, second.error.code], [409, 'idempotency_body_not_retained']);
  assert.equal(second.headers['x-should-retry'], 'false');
}

function assertReplayed(first: Reply, second: Reply): void {
  assert.equal(retentionOf(first), undefined);
  assert.equal(second.status, 200, second.text.slice(0, 300));
  assert.equal(second.headers['x-service-cache'], 'idempotent-replay');
  assert.ok(second.text === asReplayed(first.text), 'the same answer, byte for byte');
}

/** The files beside the images. */
function filesIn({ program }: TestGateway): string[] {
  const folder = join(program.dataDir, 'images');
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter((path) => statSync(path).isFile());
  } catch {
    return [];
  }
}

describe('with the default limits', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway();
  });
  after(() => gateway.stop());

  test('four images of 2.5 MB as base64 are replayed, from a file that is encrypted', async () => {
    const image = largePng(2_500_000);
    gateway.upstream.on(
      generations,
      answerJson({
        data: Array.from({ length: 4 }, () => ({ b64_json: image.toString('base64') })),
      }),
    );
    const owner = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
    const body = { model: 'gpt-image-flare', prompt: 'a fox', n: 4, response_format: 'b64_json' };
    const [first, second] = await twice(gateway, { ...owner, path: generations, body });
    assert.ok(first.text.length > 13_000_000);
    assertReplayed(first, second);
    const [file, ...others] = filesIn(gateway);
    assert.ok(file && others.length === 0);
    assert.ok(!readFileSync(file).includes(image.subarray(0, 20)));
  });

  // Responses has the longest events of the formats.
  test('a stream of 63,000 tokens is replayed, and cached', async () => {
    const { path, body } = endpoint('responses');
    const { key } = await gateway.makeKey();
    const fields = body({
      model: 'claude-haiku-4-5',
      stream: true,
      temperature: 0,
      input: 'sandbox: tokens=63000',
      max_output_tokens: 64_000,
    });
    const asked = { path, key, body: fields, name: newName() };
    const first = await ask(gateway, asked);
    assert.equal(first.status, 200, first.text.slice(0, 300));
    assert.ok(first.text.length > 5_000_000, `${first.text.length}`);
    assertReplayed(first, await ask(gateway, asked));
    const { name: _, ...unnamed } = asked;
    assert.equal((await ask(gateway, unnamed)).headers['x-service-cache'], 'hit');
  });
});

describe('with a small limit', () => {
  let gateway: TestGateway;
  let owner: { key: string; account: string };
  const tuning = { storedAnswerBytes: limitBytes };
  const bodyOf = (stream: boolean) => ({ path: chat.path, body: chat.body({ stream }) });

  before(async () => {
    gateway = await startGateway({ idempotency: { file_bytes_per_day: 150_000 } }, { tuning });
  });
  after(() => gateway.stop());

  for (const stream of [false, true]) {
    const kind = stream ? 'streamed' : 'whole';

    test(`an answer over the limit is replayed from its file, ${kind}`, async () => {
      gateway.answer(chat, { text: long, tokens });
      owner = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
      assertReplayed(...(await twice(gateway, { ...owner, ...bodyOf(stream) })));
    });

    test(`files of an account beyond those of a day are not kept, and the answer says so, ${kind}`, async () => {
      gateway.answer(chat, { text: long, tokens });
      owner = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
      for (let kept = 0; kept < 3; kept++)
        assertReplayed(...(await twice(gateway, { ...owner, ...bodyOf(stream) })));
      assertNotRetained(...(await twice(gateway, { ...owner, ...bodyOf(stream) })));
      const other = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
      assertReplayed(...(await twice(gateway, { ...other, ...bodyOf(stream) })));
    });

    test(`an answer whose file is gone, or was changed, is a 409, ${kind}`, async () => {
      gateway.answer(chat, { text: long, tokens });
      for (const spoil of [
        (path: string) => rmSync(path),
        (path: string) => writeFileSync(path, readFileSync(path).toReversed()),
        (path: string) => writeFileSync(path, ''),
      ]) {
        owner = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
        const [, second] = await twice(gateway, { ...owner, ...bodyOf(stream) }, () =>
          filesIn(gateway).forEach((path) => spoil(path)),
        );
        assert.deepEqual(
          [second.status, second.error.code],
          [409, 'idempotency_body_not_retained'],
        );
        filesIn(gateway).forEach((path) => rmSync(path));
      }
    });

    test(`an account that stores no answers is told so at once, ${kind}`, async () => {
      gateway.answer(chat, { text: 'short', tokens });
      owner = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
      await gateway.program.cli('accounts', 'update', owner.account, '--retain-responses', 'off');
      const [first, second] = await twice(gateway, { ...owner, ...bodyOf(stream) });
      assert.equal(first.headers['x-service-idempotency'], 'not-retained');
      assertNotRetained(first, second);
    });

    test(`an answer whose file cannot be written is charged once and never runs again, ${kind}`, async (t) => {
      const storage = {
        kind: 's3',
        bucket: 'pictures',
        region: 'r',
        endpoint: 'http://127.0.0.1:1',
        access_key_id: 'a',
        secret_access_key: 's',
      };
      const dead = await startGateway({ storage }, { tuning });
      t.after(() => dead.stop());
      dead.upstream.on(chat.upstreamPath, answerContent('chat', { text: long, tokens }));
      owner = await dead.makeKey({ mode: 'live', creditUsd: 5 });
      const [first, second] = await twice(dead, { ...owner, ...bodyOf(stream) });
      assert.ok(first.text.includes(long.slice(0, 20)) || stream);
      assertNotRetained(first, second);
    });
  }

  test('a request without an Idempotency-Key is told nothing of this', async () => {
    gateway.answer(chat, { text: long, tokens });
    owner = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
    for (const stream of [false, true])
      assert.equal(retentionOf(await ask(gateway, { ...owner, ...bodyOf(stream) })), undefined);
  });
});
