// Images that a few bytes of addresses fetch share the memory for them: nobody ends the process with
// free requests, and nobody keeps others out.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startGateway } from '../support/gateway.ts';
import { editedPng } from '../support/images/large-edit.ts';
import { answerJson, holdBack } from '../support/upstream.ts';

/** The room for fetched images is a third. */
const answerBytes = 3_000_000;
const gateway = await startGateway({}, { tuning: { answerBytes } });
after(() => gateway.stop());

const image = Buffer.alloc(700_000);
Buffer.from(editedPng, 'base64').copy(image);
const { store, links } = gateway.program.app.gateway.images;
const url = links.sign(gateway.url, await store.put({ bytes: image, mediaType: 'image/png' }));
const whole = answerJson({ created: 1, data: [{ b64_json: editedPng }] });

function edit(key: string) {
  const body = { model: 'gpt-image-flare-edit', prompt: 'x', images: [url] };
  return gateway.post('/v1/images/generations', {
    key,
    body: { ...body, response_format: 'b64_json' },
  });
}

async function count(key: string) {
  const content = [{ type: 'image', source: { type: 'url', url } }];
  const body = { model: 'claude-haiku-4-5', messages: [{ role: 'user', content }] };
  const { status, headers } = await gateway.post('/v1/messages/count_tokens', { key, body });
  return [status, headers['x-service-token-count']];
}

test('fetched images beyond the room are refused or not counted, until others have ended', async (t) => {
  const [one, other] = [
    await gateway.makeKey({ mode: 'live', creditUsd: 5 }),
    await gateway.makeKey({ mode: 'live', creditUsd: 5 }),
  ];
  const free = await gateway.makeKey();
  gateway.upstream.on('/v1/messages/count_tokens', answerJson({ input_tokens: 5 }));
  const held = holdBack(whole);
  t.after(held.release);
  gateway.upstream.on('/v1/images/edits', held.script, whole);
  const running = edit(one.key);
  await gateway.upstream.request(0);
  for (const { key } of [one, other, free]) {
    const refused = await edit(key);
    assert.deepEqual([refused.status, refused.error.code], [503, 'overloaded'], refused.text);
  }
  assert.deepEqual(await count(other.key), [200, 'estimate']);
  held.release();
  assert.equal((await running).status, 200);
  assert.equal((await edit(free.key)).status, 200);
  assert.deepEqual(await count(other.key), [200, undefined]);
  assert.equal((await edit(other.key)).status, 200);
  assert.equal((await gateway.balance(other.account)).heldMicros, 0);
});
