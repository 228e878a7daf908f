// The official `openai` package's image calls against the started program: with a test key, and
// with a live one through the local upstream.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import OpenAI, { BadRequestError, toFile } from 'openai';
import { gif, png } from '../support/images/local-image-provider.ts';
import { startGateway } from '../support/gateway.ts';
import { playImageProviders } from '../support/image-upstreams.ts';

const gateway = await startGateway();
playImageProviders(gateway.upstream);
after(() => gateway.stop());

async function newClient(mode: 'live' | 'test'): Promise<OpenAI> {
  const { key } = await gateway.makeKey({ mode, ...(mode === 'live' && { creditUsd: 5 }) });
  return new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 0 });
}

const prompt = 'a red fox in the snow';
const size = '1024x1024';

async function fileAt(url: string | undefined): Promise<Buffer> {
  const answer = await fetch(url!);
  assert.equal(answer.headers.get('content-type'), 'image/png');
  return Buffer.from(await answer.arrayBuffer());
}

for (const mode of ['live', 'test'] as const) {
  void describe(`with a ${mode} key`, () => {
    test('images.generate returns links', async () => {
      const client = await newClient(mode);
      const { data, created } = await client.images.generate({
        model: 'gpt-image-flare',
        prompt,
        n: 2,
        size,
        quality: 'low',
      });
      assert.equal(data?.length, 2);
      assert.ok(created > 0);
      for (const { url } of data) {
        const bytes = await fileAt(url);
        if (mode === 'live') assert.ok(bytes.equals(png));
        else assert.deepEqual([bytes.readUInt32BE(16), bytes.readUInt32BE(20)], [1_024, 1_024]);
      }
    });

    test('images.edit sends one or several files', async () => {
      const client = await newClient(mode);
      const image = await toFile(png, 'fox.png', { type: 'image/png' });
      const first = gateway.upstream.requests.length;
      const one = await client.images.edit({ model: 'gpt-image-flare-edit', prompt, image, size });
      await fileAt(one.data![0]!.url);
      const images = [image, await toFile(gif, 'snow.gif', { type: 'image/gif' })];
      const two = await client.images.edit({
        model: 'gpt-image-sunburst-reference',
        prompt,
        image: images,
        n: 2,
      });
      assert.equal(two.data?.length, 2);
      const files = gateway.upstream.requests
        .slice(first)
        .map(({ body }) => String(body).match(/filename="[^"]+"/g));
      assert.deepEqual(
        files,
        mode === 'live'
          ? [['filename="image-1.png"'], ['filename="image-1.png"', 'filename="image-2.gif"']]
          : [],
      );
    });

    test('a refusal has the package’s error class and names the field, and a mask is taken', async () => {
      const client = await newClient(mode);
      const model = 'gpt-image-flare-edit';
      const image = await toFile(png, 'fox.png', { type: 'image/png' });
      await assert.rejects(
        client.images.edit({ model, prompt, image, background: 'transparent' }),
        (error) => error instanceof BadRequestError && error.param === 'background',
      );
      const first = gateway.upstream.requests.length;
      const masked = await client.images.edit({ model, prompt, image, mask: image });
      assert.equal(masked.data?.length, 1);
      const [sent] = gateway.upstream.requests.slice(first);
      assert.equal(String(sent?.body).includes('filename="mask.png"'), mode === 'live');
    });
  });
}
