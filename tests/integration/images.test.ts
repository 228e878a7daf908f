// Image generation and editing through the started program: provider requests, answers and costs.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { changeTerms } from '../../src/domain/accounts/manage-accounts.ts';
import { gif, png } from '../support/images/local-image-provider.ts';
import {
  prompt,
  startImageGateway,
  urlsOf,
  type Answer,
  type Body,
} from '../support/image-gateway.ts';
import { imagePaths, inputs } from '../support/image-upstreams.ts';
import { TestClock } from '../support/test-clock.ts';

const clock = new TestClock();
const { gateway, newKey, draw, recordsOf, assertCharged } = await startImageGateway({}, { clock });
after(() => gateway.stop());

const one = inputs.slice(0, 1);
/**
 * The cost of one image in micros, inputs included, with a markup of 1.5. `path`: the provider's
 * path.
 */
const models: [
  id: string,
  name: string,
  provider: string,
  path: string,
  images: readonly string[],
  micros: number,
][] = [
  ['gpt-image-flare', 'GPT Image Flare', 'openai', imagePaths.generations, [], 19_500],
  ['gpt-image-sunburst', 'GPT Image Sunburst', 'openai', imagePaths.generations, [], 19_500],
  ['gpt-image-flare-edit', 'GPT Image Flare Edit', 'openai', imagePaths.edits, one, 34_500],
  [
    'gpt-image-sunburst-reference',
    'GPT Image Sunburst Reference',
    'openai',
    imagePaths.edits,
    inputs,
    49_500,
  ],
  ['flux-2', 'FLUX.2', 'bfl', imagePaths.bfl(), [], 45_000],
  ['flux-2-edit', 'FLUX.2 Edit', 'bfl', imagePaths.bfl(), one, 67_500],
  ['flux-2-reference', 'FLUX.2 Reference', 'bfl', imagePaths.bfl(), inputs, 90_000],
  ['nano-banana', 'Nano Banana', 'google', imagePaths.gemini, [], 51_000],
  ['nano-banana-edit', 'Nano Banana Edit', 'google', imagePaths.gemini, one, 52_500],
  ['nano-banana-reference', 'Nano Banana Reference', 'google', imagePaths.gemini, inputs, 54_000],
];

describe('every model', () => {
  for (const [id, name, provider, path, images, micros] of models) {
    const body = { model: id, prompt, n: 2, ...(images.length > 0 && { images }) };

    test(`${id} with a live key asks its provider and charges each image`, async () => {
      const owner = await newKey();
      const first = gateway.upstream.requests.length;
      const reply = await draw(owner.key, body);
      await assertCharged(reply, { ...owner, images: 2, micros: 2 * micros });
      assert.equal((await recordsOf(owner.key))[0]!.model, name);
      // A provider that makes one image per call gets two calls.
      const calls = provider === 'openai' ? 1 : 2;
      const asked = gateway.upstream.requests
        .slice(first)
        .filter((request) => request.path === path);
      assert.equal(asked.length, calls);
      const { headers } = reply;
      assert.deepEqual(
        [headers['x-service-route'], headers['x-service-attempts']],
        [provider, String(calls)],
      );
      assert.equal(headers['x-service-mode'], undefined);
      for (const { body: sent } of asked) {
        const text = typeof sent === 'string' ? sent : JSON.stringify(sent);
        assert.ok(text.includes(prompt));
        const files = text.match(/filename=|inlineData|"input_image/g) ?? [];
        assert.equal(files.length, images.length, 'every input goes along');
      }
      assert.equal(reply.json<Answer>().created, Math.floor(clock.nowMs() / 1_000));
      for (const url of urlsOf(reply))
        assert.ok(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(png));
    });

    test(`${id} with a test key is drawn by the sandbox at the same price without a provider call`, async () => {
      const owner = await gateway.makeKey();
      const first = gateway.upstream.requests.length;
      const reply = await draw(owner.key, {
        ...body,
        ...(id.startsWith('nano') ? {} : { size: '512x256' }),
      });
      await assertCharged(reply, { ...owner, mode: 'test', images: 2, micros: 2 * micros });
      assert.equal(gateway.upstream.requests.length, first);
      assert.deepEqual(
        [reply.headers['x-service-mode'], reply.headers['x-service-route']],
        ['test', 'sandbox'],
      );
      const [url, second] = urlsOf(reply);
      assert.notEqual(url, second);
      const bytes = Buffer.from(await (await fetch(url!)).arrayBuffer());
      const side = (at: number) => bytes.readUInt32BE(at);
      assert.deepEqual([side(16), side(20)], id.startsWith('nano') ? [1_024, 1_024] : [512, 256]);
    });
  }
});

describe('options decide the provider call and the price', () => {
  const cases: [body: Body, path: string, sent: Body, micros: number][] = [
    [
      { size: '1536x1024', quality: 'high' },
      imagePaths.generations,
      { size: '1536x1024', quality: 'high' },
      2 * 79_500,
    ],
    [
      { size: 'auto', quality: 'low' },
      imagePaths.generations,
      { size: '1024x1024', quality: 'low', n: 1 },
      9_000,
    ],
    [
      { output_format: 'webp' },
      imagePaths.generations,
      { output_format: 'webp', model: 'gpt-image-2.6-flare' },
      19_500,
    ],
    [
      { model: 'flux-2', size: '512x512' },
      imagePaths.bfl(),
      { width: 512, height: 512, output_format: 'png' },
      45_000,
    ],
    [
      { model: 'nano-banana', aspect_ratio: '16:9', resolution: '4k' },
      imagePaths.gemini,
      {
        generationConfig: {
          responseModalities: ['IMAGE'],
          imageConfig: { aspectRatio: '16:9', imageSize: '4K' },
        },
      },
      114_000,
    ],
  ];
  for (const [body, path, sent, micros] of cases) {
    test(JSON.stringify(body), async () => {
      const owner = await newKey();
      const first = gateway.upstream.requests.length;
      await assertCharged(await draw(owner.key, body), { ...owner, images: 1, micros });
      const [request] = gateway.upstream.requests.slice(first);
      assert.equal(request!.path, path);
      for (const [name, value] of Object.entries(sent))
        assert.deepEqual((request!.body as Body)[name], value, name);
    });
  }

  test("an account's own price is a multiple of the list price", async () => {
    const owner = await newKey();
    await changeTerms(gateway.database.write, owner.account, { priceMultiplierPpm: 500_000 });
    await assertCharged(await draw(owner.key, { n: 3 }), {
      ...owner,
      images: 3,
      micros: 3 * 9_750,
    });
  });

  test('fields without effect are left out and listed', async () => {
    const { key } = await newKey();
    const reply = await draw(key, { user: 'someone', moderation: 'low', background: 'auto' });
    assert.equal(reply.headers['x-service-ignored'], 'user, moderation');
  });
});

describe('input images by URL', () => {
  test('from an allowed host are fetched and forwarded', async () => {
    const { key } = await newKey();
    gateway.upstream.on(
      '/fox.gif',
      (response) => void response.writeHead(200, { 'content-type': 'text/plain' }).end(gif),
    );
    const first = gateway.upstream.requests.length;
    const reply = await draw(key, {
      model: 'nano-banana-edit',
      images: [`${gateway.upstream.url}/fox.gif`],
    });
    assert.equal(reply.status, 200, reply.text);
    const [fetched, asked] = gateway.upstream.requests.slice(first);
    assert.equal(fetched!.path, '/fox.gif');
    assert.ok(!JSON.stringify(fetched!.headers).includes(key));
    assert.ok(JSON.stringify(asked!.body).includes(gif.toString('base64')));
  });

  test('a link to one of our images can be edited next', async () => {
    const { key } = await newKey();
    const images = urlsOf(await draw(key));
    const first = gateway.upstream.requests.length;
    assert.equal((await draw(key, { model: 'flux-2-edit', images })).status, 200);
    const { input_image: sent } = gateway.upstream.requests[first]!.body as { input_image: string };
    assert.equal(sent, png.toString('base64'));
  });
});

describe('answers', () => {
  test('b64_json is the file itself, with either key', async () => {
    const { key } = await newKey();
    const { data } = (await draw(key, { n: 2, response_format: 'b64_json' })).json<Answer>();
    assert.deepEqual(data, [
      { b64_json: png.toString('base64') },
      { b64_json: png.toString('base64') },
    ]);
    const sandbox = await gateway.makeKey();
    const drawn = (
      await draw(sandbox.key, { size: '64x64', output_format: 'jpeg', response_format: 'b64_json' })
    ).json<Answer>();
    assert.ok(drawn.data[0]!.b64_json!.startsWith('/9j/'));
  });
});
