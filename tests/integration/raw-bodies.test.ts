// Ambiguous JSON has one reading: the upstream gets the object that was checked and priced, never
// the client's bytes. A body of very many values, which would block a thread, is refused unread.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { answerContent } from '../support/answers.ts';
import { endpoints } from '../support/endpoints.ts';
import { startGateway } from '../support/gateway.ts';

// Only on routes where the operator lets unknown fields pass.
const opened = { pass_fields: ['__proto__', 'constructor'] };
const gateway = await startGateway({
  models: { 'gpt-6-luna': opened, 'claude-haiku-4-5': opened },
});
const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
after(() => gateway.stop());

for (const { name, path, upstreamPath, limitField, body } of endpoints) {
  /** Sends the endpoint's body with extra text inside. Returns what reached the upstream. */
  const relay = async (more: string) => {
    gateway.upstream.on(
      upstreamPath,
      answerContent(name, { text: 'Yes.', tokens: { input: 3, output: 2 } }),
    );
    const next = gateway.upstream.requests.length;
    const reply = await gateway.post(path, {
      key,
      body: `${JSON.stringify(body()).slice(0, -1)},${more}}`,
    });
    assert.equal(reply.status, 200, reply.text);
    return (await gateway.upstream.request(next)).body as Record<string, unknown>;
  };

  test(`${name}: the last of two equal fields counts, for us and for the upstream`, async () => {
    // Thinking models of OpenAI get no temperature.
    const model = name === 'messages' ? '' : '"model":"gpt-4.1",';
    const sent = await relay(`${model}"${limitField}":77,"temperature":0.1,"temperature":0.2`);
    assert.equal(sent[limitField], 77);
    assert.equal(sent['temperature'], 0.2);
  });

  test(`${name}: a refused field is also refused when it is repeated or its name is escaped`, async () => {
    for (const [more, status] of [
      ['"service_tier":"auto","service_tier":"scale"', 400],
      ['"service_tier":"auto","service_\\u0074ier":"scale"', 400],
      ['"service_tier":"scale","service_tier":"auto"', 200],
    ] as const) {
      const reply = await gateway.post(path, {
        key,
        body: `${JSON.stringify(body()).slice(0, -1)},${more}}`,
      });
      assert.equal(reply.status, status, more);
      if (status === 400) assert.equal(reply.error.param, 'service_tier');
    }
  });

  test(`${name}: half of a character, which strict readers refuse, reaches the upstream as U+FFFD`, async () => {
    const list = name === 'responses' ? 'input' : 'messages';
    const sent = await relay(
      `"${list}":[{"role":"user","content":"cut \\ud83d, \\\\ud83d \\ud83d\\ude00"}]`,
    );
    assert.match(JSON.stringify(sent[list]), /cut \ufffd, \\\\ud83d 😀/);
  });

  test(`${name}: __proto__ is a field like any other and changes no other object`, async () => {
    const sent = await relay(
      '"__proto__":{"service_tier":"scale","temperature":0.9},"constructor":{"prototype":{"n":9}}',
    );
    assert.equal(sent['temperature'], undefined);
    assert.notEqual(sent['service_tier'], 'scale');
    assert.equal(Object.getPrototypeOf(sent), Object.prototype);
    assert.deepEqual(sent['constructor'], { prototype: { n: 9 } });
    assert.deepEqual(Object.getOwnPropertyDescriptor(sent, '__proto__')?.value, {
      service_tier: 'scale',
      temperature: 0.9,
    });
  });
}

test('a body of more than 50,000 values is refused before it is parsed', async () => {
  const metadata = Object.fromEntries(
    Array.from({ length: 50_000 }, (_, index) => [`k${index}`, 'v']),
  );
  for (const { path, body } of endpoints) {
    const reply = await gateway.post(path, { key, body: { ...body(), metadata } });
    assert.equal(reply.status, 400);
    assert.match(reply.error.message, /more than 50000 values; send shorter lists and objects/);
  }
});

test('a body in another encoding than UTF-8 is refused: its text would reach the model changed', async () => {
  for (const { path, body } of endpoints) {
    const latin1 = Buffer.from(JSON.stringify(body({ user: 'café' })), 'latin1');
    const next = gateway.upstream.requests.length;
    const reply = await gateway.post(path, { key, body: latin1 });
    assert.equal(reply.status, 400);
    assert.match(reply.error.message, /the body is not UTF-8/);
    assert.equal(gateway.upstream.requests.length, next);
  }
});

test('a body that begins with a byte order mark, as PowerShell 5 writes it, is read', async () => {
  for (const { path, body } of endpoints) {
    const reply = await gateway.post(path, {
      key,
      body: Buffer.from(`\uFEFF${JSON.stringify(body())}`),
    });
    assert.equal(reply.status, 200);
  }
});
