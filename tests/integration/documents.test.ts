// The hold for a document, as seen by a client with a small balance.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { answerContent } from '../support/answers.ts';
import { endpoint } from '../support/endpoints.ts';
import { startGateway } from '../support/gateway.ts';
import { ok } from '../support/http.ts';

const messages = endpoint('messages');

const gateway = await startGateway();
gateway.upstream.on(
  messages.upstreamPath,
  answerContent('messages', { text: 'one', tokens: { input: 2_000, output: 5 } }),
);
after(() => gateway.stop());

const pdf = (count: number) => ({
  type: 'base64',
  media_type: 'application/pdf',
  data: Buffer.from(`%PDF-1.7 ${'<< /Type /Page >> '.repeat(count)}`).toString('base64'),
});

/** Calls a model that reads up to 200 000 tokens, at $1 a million, or $2 for cache writes. */
function ask(key: string, source: object) {
  const content = [
    { type: 'document', source },
    { type: 'text', text: 'Sum it up.' },
  ];
  return gateway.ask(messages, key, { messages: [{ role: 'user', content }] });
}

test('the hold for a base64 document covers its pages, for a URL the whole context', async () => {
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 0.3 });
  const byAddress = await ask(key, { type: 'url', url: 'https://example.com/a.pdf' });
  assert.deepEqual([byAddress.status, byAddress.error.code], [402, 'insufficient_balance']);
  assert.match(byAddress.error.message, /Send documents as base64/);
  assert.equal((await ask(key, pdf(25))).status, 402);

  const reply = await ok(ask(key, pdf(10)));
  assert.deepEqual(
    await gateway
      .balance(account)
      .then(({ postedMicros, heldMicros }) => [postedMicros, heldMicros]),
    [300_000 - reply.costMicros!, 0],
  );
});

test('whatever its pages hold, a document costs what the provider counts', async (t) => {
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
  // A zip archive, as Office files are, can hold far more text than it has bytes.
  const packed = Buffer.from('PK\x03\x04packed', 'latin1').toString('base64');
  gateway.upstream.on(
    messages.upstreamPath,
    answerContent('messages', { text: 'one', tokens: { input: 150_000, output: 5 } }),
  );
  for (const source of [pdf(1), { type: 'base64', media_type: 'application/zip', data: packed }])
    await t.test(source.media_type, async () => {
      const reply = await ok(ask(key, source));
      assert.equal(reply.costMicros, 150_025);
    });
});
