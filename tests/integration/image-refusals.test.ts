// Refused image requests: what the client is told, and that nothing is sent, fetched or held.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { generations, prompt, startImageGateway, type Body } from '../support/image-gateway.ts';
import { inputs } from '../support/image-upstreams.ts';
import { startUpstream } from '../support/upstream.ts';

const { gateway, newKey, draw } = await startImageGateway();
/** Inside the operator's network, and not allowed. */
const hidden = await startUpstream();
after(async () => {
  await gateway.stop();
  await hidden.close();
});

const [oneInput] = inputs;

describe('refused image requests', () => {
  const file = `data:image/png;base64,${Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>').toString('base64')}`;
  const tooMany = Array.from({ length: 17 }, () => oneInput!);
  /**
   * One of each kind, and what depends on the catalogue or is found outside
   * src/domain/images/image-request.ts, whose own test has every field. The message says how to fix it.
   */
  const cases: [what: string, body: Body, param: string, message: RegExp][] = [
    ['no model', { model: undefined }, 'model', /model/],
    ['a prompt too long', { prompt: 'x'.repeat(32_001) }, 'prompt', /32000/],
    ['a shape for a model of sizes', { aspect_ratio: '1:1' }, 'aspect_ratio', /size \(.*low/],
    [
      'a size for a model of shapes',
      { model: 'nano-banana', size: '1024x1024' },
      'size',
      /aspect_ratio \(.*16:9.*resolution \(.*4k/,
    ],
    [
      'a size too large for FLUX',
      { model: 'flux-2', size: '3536x1600' },
      'size',
      /at most 4194304 pixels/,
    ],
    [
      'an unknown resolution',
      { model: 'nano-banana', resolution: '8k' },
      'resolution',
      /1k.*2k.*4k/,
    ],
    ['n = 11', { n: 11 }, 'n', /from 1 to 10/],
    ['images for text alone', { images: inputs }, 'images', /edit or reference model/],
    ['no reference', { model: 'nano-banana-reference', images: [] }, 'images', /1 to 14 images/],
    [
      'seventeen references',
      { model: 'gpt-image-sunburst-reference', images: tooMany },
      'images',
      /1 to 16 images.*got 17/,
    ],
    [
      'bad base64',
      { model: 'flux-2-edit', images: ['data:image/png;base64,a*b='] },
      'images[0]',
      /not base64/,
    ],
    [
      'one bad of two',
      { model: 'flux-2-reference', images: [oneInput, file] },
      'images[1]',
      /not a PNG, JPEG, WebP or GIF/,
    ],
    ['a file URL', { model: 'flux-2-edit', images: ['file:///etc/passwd'] }, 'images[0]', /http/],
  ];
  for (const mode of ['live', 'test'] as const) {
    test(`an invalid request with a ${mode} key: nothing is sent or held`, async () => {
      const owner = await newKey({ mode });
      const [first, earlier] = [
        gateway.upstream.requests.length,
        await gateway.balance(owner.account, mode),
      ];
      for (const [what, body, param, message] of cases) {
        const reply = await draw(owner.key, body);
        assert.equal(reply.status, 400, `${what}: ${reply.text}`);
        assert.equal(reply.error.param, param, `${what}: ${reply.error.message}`);
        assert.match(reply.error.message, message, what);
      }
      assert.equal(gateway.upstream.requests.length, first);
      assert.deepEqual(await gateway.balance(owner.account, mode), earlier);
    });

    test(`a non-public URL with a ${mode} key: no connection`, async () => {
      const { key } = await newKey({ mode });
      const { port } = new URL(hidden.url);
      gateway.upstream.on(
        '/redirect',
        (response) => void response.writeHead(302, { location: `${hidden.url}/a.png` }).end(),
      );
      const urls = [
        `${hidden.url}/a.png`,
        `http://localhost:${port}/a.png`,
        `http://[::1]:${port}/a.png`,
        'http://127.0.0.1/a.png',
        'http://169.254.169.254/latest/meta-data',
        'http://10.0.0.1/a.png',
        `${gateway.upstream.url}/redirect`,
      ];
      for (const [index, url] of urls.entries()) {
        const images = index % 2 === 0 ? [url] : [oneInput, url];
        const reply = await draw(key, { model: 'flux-2-reference', images });
        assert.deepEqual(
          [reply.status, reply.error.param],
          [400, `images[${images.length - 1}]`],
          `${url}: ${reply.text}`,
        );
        assert.ok(!reply.text.includes(hidden.url), 'the redirect target is not revealed');
      }
      assert.equal(hidden.connections(), 0);
    });

    test(`an unknown or forbidden model with a ${mode} key`, async () => {
      const { key } = await newKey({ mode, models: ['flux-2'] });
      const unknown = await draw(key, { model: 'no-such-model' });
      assert.deepEqual([unknown.status, unknown.error.code], [404, 'model_not_found']);
      const other = await draw(key, { model: 'gpt-6-luna' });
      assert.deepEqual([other.status, other.error.code], [404, 'model_not_found']);
      assert.match(other.error.message, /answers conversations: use POST/);
      const forbidden = await draw(key);
      assert.deepEqual(
        [forbidden.status, forbidden.error.code],
        [403, 'model_not_allowed_for_key'],
      );
      assert.equal((await draw(key, { model: 'flux-2' })).status, 200);
    });
  }

  test('a request without a key', async () => {
    assert.equal(
      (await gateway.post(generations, { body: { model: 'flux-2', prompt } })).status,
      401,
    );
  });
});
