// A model server in the operator's own network would fetch the addresses that clients send from there:
// the gateway fetches images itself, under its rules, and sends no other address on.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import sharp from 'sharp';
import { answerContent } from '../support/answers.ts';
import { addressed, clients, type Client } from '../support/endpoints.ts';
import { startGateway } from '../support/gateway.ts';
import { modelOf } from '../support/model-of.ts';
import { answerJson, answerStatus } from '../support/upstream.ts';

const png = await sharp({ create: { width: 2, height: 2, channels: 3, background: 'green' } })
  .png()
  .toBuffer();
const large = Buffer.alloc(700_000);
png.copy(large);
let largeFetched = 0;
const imageServer = createServer((request, response) => {
  if (request.url === '/large.png') largeFetched += 1;
  response.end(request.url === '/large.png' ? large : png);
});
imageServer.listen(0, '127.0.0.1');
await once(imageServer, 'listening');
const imageHost = `127.0.0.1:${(imageServer.address() as AddressInfo).port}`;
const judgement = { flagged: false, categories: {}, category_scores: {} };
const inside = 'http://169.254.169.254/latest/meta-data/';

const supports = { thinking: false, streaming: true, vision: true };
const seeing = (route: object) => modelOf([route], { supports });

/** A third of these bytes is for fetched images. An account has half of them while others have some. */
const answerBytes = 3_000_000;
const gateway = await startGateway(
  {
    images: { allowed_hosts: [imageHost] },
    retries: { max_attempts: 2 },
    models: {
      inside: seeing({ provider: 'local', model: 'llava' }),
      'inside-responses': seeing({ provider: 'openai', model: 'llava', api: 'responses' }),
      'inside-messages': seeing({ provider: 'anthropic', model: 'llava' }),
      'inside-gemini': seeing({ provider: 'google', model: 'llava' }),
      judging: {
        type: 'moderation',
        routes: [{ provider: 'local', model: 'guard' }],
        prices: { input: 0, output: 0 },
      },
    },
  },
  { tuning: { answerBytes, backoffMs: 0 } },
);
after(async () => {
  imageServer.close();
  await gateway.stop();
});
const localPath = '/local/v1/chat/completions';
const green = answerContent('chat', { text: 'Green.', tokens: { input: 10, output: 2 } });
gateway.upstream.on(localPath, green);
const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 1 });

/** The field of a conversation with an image by URL. */
function imageAt({ name }: Pick<Client, 'name'>, url: string): object {
  const messages = (part: object) => ({ messages: [{ role: 'user', content: [part] }] });
  switch (name) {
    case 'chat':
      return messages({ type: 'image_url', image_url: { url } });
    case 'messages':
      return messages({ type: 'image', source: { type: 'url', url } });
    case 'responses':
      return { input: [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }] };
    case 'gemini':
      return {
        contents: [
          { role: 'user', parts: [{ fileData: { fileUri: url, mimeType: 'image/png' } }] },
        ],
      };
  }
}

async function ask(client: Client, fields: object) {
  const { path, body } = addressed(client, client.body({ model: 'inside', ...fields }));
  return gateway.recordUpstream(() => gateway.post(path, { key, body }));
}

for (const client of clients) {
  for (const stream of [false, true]) {
    test(`${client.name}, stream ${stream}: an image on the web reaches a server inside as its bytes`, async () => {
      const { reply, asked } = await ask(client, {
        ...imageAt(client, `http://${imageHost}/a.png`),
        stream,
      });
      assert.equal(reply.status, 200, reply.text);
      const { text } = asked[0]!;
      assert.ok(text.includes(`data:image/png;base64,${png.toString('base64')}`), text);
      assert.ok(!text.includes(imageHost));
    });

    test(`${client.name}, stream ${stream}: no address of the operator's network reaches it`, async () => {
      const before = await gateway.balance(account);
      const { reply, asked } = await ask(client, { ...imageAt(client, inside), stream });
      assert.equal(reply.status, 400, reply.text);
      assert.match(reply.text, /public address/);
      assert.deepEqual(asked, []);
      await gateway.assertLeft(account, before.availableMicros);
    });
  }
}

for (const wire of ['responses', 'messages', 'gemini'] as const) {
  test(`a server inside of another kind is sent no address: ${wire}`, async () => {
    const pdf = { type: 'document', source: { type: 'url', url: 'https://a.example/a.pdf' } };
    const document = { messages: [{ role: 'user', content: [pdf] }] };
    for (const client of clients) {
      const model = `inside-${wire}`;
      const web = await ask(client, { ...imageAt(client, `http://${imageHost}/a.png`), model });
      assert.ok(web.asked[0]!.text.includes(png.toString('base64')), web.reply.text);
      assert.ok(!web.asked[0]!.text.includes(imageHost));
      const fields = [imageAt(client, inside), ...(client.name === 'messages' ? [document] : [])];
      for (const field of fields) {
        const { reply, asked } = await ask(client, { ...field, model });
        assert.equal(reply.status, 400, reply.text);
        assert.match(reply.text, /public address|not an address/);
        assert.deepEqual(asked, []);
      }
    }
  });
}

test('other media reach a server inside only as their bytes', async () => {
  const chat = clients.find(({ name }) => name === 'chat')!;
  const parts = [
    { type: 'video_url', video_url: { url: inside } },
    { type: 'audio_url', audio_url: { url: inside } },
    { type: 'image_url', image_url: { url: 'file:///etc/passwd' } },
    { type: 'input_audio', input_audio: { data: inside, format: 'wav' } },
    { type: 'file', file: { file_data: inside, filename: 'a.pdf' } },
    // Python's and other parsers drop what stands before a scheme, and line ends within it.
    ...[' '.repeat(150), '\u0001'].map((before) => ({
      type: 'image_url',
      image_url: { url: `${before}${inside}` },
    })),
    { type: 'image_url', image_url: { url: inside.replace('h', `h${'\n'.repeat(150)}`) } },
    { type: 'input_audio', input_audio: { data: inside.replace('t', '\tt'), format: 'wav' } },
    // A server may take it for a file of its own.
    { type: 'image_url', image_url: { url: '/srv/private/photo.png' } },
    { type: 'video_url', video_url: { url: 'private.mp4' } },
  ];
  for (const part of parts) {
    const { reply, asked } = await ask(chat, { messages: [{ role: 'user', content: [part] }] });
    assert.equal(reply.status, 400, `${JSON.stringify(part)} ${reply.text}`);
    assert.deepEqual(asked, []);
  }
  const text = { type: 'text', text: `What is at ${inside}?` };
  const data = {
    type: 'image_url',
    image_url: { url: `data:image/png;base64,${png.toString('base64')}` },
  };
  const { reply } = await ask(chat, { messages: [{ role: 'user', content: [text, data] }] });
  assert.equal(reply.status, 200, reply.text);
});

test('an image is fetched once for all calls of a request, and takes its memory once', async () => {
  const chat = clients.find(({ name }) => name === 'chat')!;
  gateway.upstream.on(localPath, answerStatus(503), green);
  const { reply, asked } = await ask(chat, imageAt(chat, `http://${imageHost}/large.png`));
  assert.equal(reply.status, 200, reply.text);
  assert.equal(asked.length, 2);
  assert.equal(asked[1]!.text, asked[0]!.text);
  assert.equal(largeFetched, 1);
});

test('a server inside judges an image by its bytes only', async () => {
  gateway.upstream.on('/local/v1/moderations', answerJson({ results: [judgement] }));
  const judge = (url: string) => {
    const input = [{ type: 'image_url', image_url: { url } }];
    const body = { model: 'judging', input };
    return gateway.recordUpstream(() => gateway.post('/v1/moderations', { key, body }));
  };
  const { reply, asked } = await judge(inside);
  assert.equal(reply.status, 400, reply.text);
  assert.deepEqual(asked, []);
  const data = await judge(`data:image/png;base64,${png.toString('base64')}`);
  assert.equal(data.reply.status, 200, data.reply.text);
});
