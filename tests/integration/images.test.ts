// Images that are generated and edited, through the started program: what is asked of the providers, what comes back, and what it costs.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { updateAccount } from '../../src/accounts/manage-accounts.ts';
import type { Micros } from '../../src/lib/money.ts';
import { gif, png } from '../../src/providers/image-fixture.ts';
import { startGateway, upstreamKey, type KeyOptions, type TestGateway } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';
import {
  bflAt,
  bflModerated,
  bflPending,
  bflReady,
  geminiDraws,
  geminiRefuses,
  imagePaths,
  inputs,
  openaiDraws,
  openaiModerates,
  playImageProviders,
} from '../support/image-upstreams.ts';
import { answerStatus, hang, startUpstream, thenReset, type LocalUpstream, type Script } from '../support/upstream.ts';

const generations = '/v1/images/generations';
const edits = '/v1/images/edits';
const prompt = 'a red fox in the snow';
const [oneInput] = inputs;

let gateway: TestGateway;
/** Inside the operator's network, and not allowed. */
let hidden: LocalUpstream;

before(async () => {
  hidden = await startUpstream();
  gateway = await startGateway((upstream) => ({
    providers: { bfl: bflAt(upstream, upstreamKey) },
    images: { allowed_hosts: [new URL(upstream.url).host] },
    pricing: { markup: 1.5 },
    image_models: Object.fromEntries(secondRoutes.map(({ model }) => [model, modelOfTwoRoutes(model)])),
  }));
  playImageProviders(gateway.upstream);
});
after(async () => {
  await gateway.stop();
  await hidden.close();
});

function modelOfTwoRoutes(id: string): object {
  return {
    mode: 'text-to-image',
    family: 'gpt-image',
    routes: ['local', 'openai'].map((provider) => ({ provider, model: `${id}-upstream` })),
    prices: { output: { low: 0.01, medium: 0.02, high: 0.03 } },
  };
}

const newKey = (options: KeyOptions = {}) => gateway.makeKey({ mode: 'live', creditUsd: 5, ...options });
type Answer = { readonly created: number; readonly data: readonly { readonly url?: string; readonly b64_json?: string }[] };
type Body = Readonly<Record<string, unknown>>;

function draw(key: string, body: Body = {}, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
  return gateway.post(generations, { key, headers, body: { model: 'gpt-image-flare', prompt, ...body } });
}

function urlsOf(reply: Reply): string[] {
  assert.equal(reply.status, 200, reply.text);
  return reply.json<Answer>().data.map(({ url }) => url!);
}

/** Restores the scripts of the providers when the test ends. */
function play(t: { after: (restore: () => void) => void }, path: string, ...scripts: [Script, ...Script[]]): void {
  gateway.upstream.on(path, ...scripts);
  t.after(() => playImageProviders(gateway.upstream));
}

type UsageRecord = {
  readonly model: string;
  readonly images?: number;
  readonly total_tokens: number;
  readonly cost_cents: number;
};

async function recordsOf(key: string): Promise<UsageRecord[]> {
  return (await gateway.get('/v1/usage', { key })).json<{ data: UsageRecord[] }>().data;
}

/** What the request cost is the same in its header, its record and the balance, and nothing stays held. */
async function assertCharged(
  reply: Reply,
  {
    key,
    account,
    mode = 'live',
    images,
    micros,
  }: { key: string; account: string; mode?: 'live' | 'test'; images: number; micros: number },
): Promise<void> {
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.costMicros, micros);
  const [record, ...others] = await recordsOf(key);
  assert.deepEqual([record!.images, record!.total_tokens, record!.cost_cents, others.length], [images, 0, micros / 10_000, 0]);
  const { availableMicros, heldMicros } = await gateway.balance(account, mode);
  assert.equal(heldMicros, 0);
  if (mode === 'live') assert.equal(availableMicros, 5_000_000 - micros);
}

async function assertFree({ key, account }: { readonly key: string; readonly account: string }): Promise<void> {
  const { availableMicros, heldMicros } = await gateway.balance(account);
  assert.deepEqual([availableMicros, heldMicros, await recordsOf(key)], [5_000_000, 0, []]);
}

/** Micros of one image with the markup of 1.5, its inputs included; `path`: where the provider is asked. */
const models: readonly {
  readonly id: string;
  readonly name: string;
  readonly provider: string;
  readonly path: string;
  readonly images: readonly string[];
  readonly micros: number;
}[] = [
  {
    id: 'gpt-image-flare',
    name: 'GPT Image Flare',
    provider: 'openai',
    path: imagePaths.generations,
    images: [],
    micros: 19_500,
  },
  {
    id: 'gpt-image-sunburst',
    name: 'GPT Image Sunburst',
    provider: 'openai',
    path: imagePaths.generations,
    images: [],
    micros: 19_500,
  },
  {
    id: 'gpt-image-flare-edit',
    name: 'GPT Image Flare Edit',
    provider: 'openai',
    path: imagePaths.edits,
    images: inputs.slice(0, 1),
    micros: 34_500,
  },
  {
    id: 'gpt-image-sunburst-reference',
    name: 'GPT Image Sunburst Reference',
    provider: 'openai',
    path: imagePaths.edits,
    images: inputs,
    micros: 49_500,
  },
  { id: 'flux-2', name: 'FLUX.2', provider: 'bfl', path: imagePaths.bfl(), images: [], micros: 45_000 },
  { id: 'flux-2-edit', name: 'FLUX.2 Edit', provider: 'bfl', path: imagePaths.bfl(), images: inputs.slice(0, 1), micros: 67_500 },
  { id: 'flux-2-reference', name: 'FLUX.2 Reference', provider: 'bfl', path: imagePaths.bfl(), images: inputs, micros: 90_000 },
  { id: 'nano-banana', name: 'Nano Banana', provider: 'google', path: imagePaths.gemini, images: [], micros: 51_000 },
  {
    id: 'nano-banana-edit',
    name: 'Nano Banana Edit',
    provider: 'google',
    path: imagePaths.gemini,
    images: inputs.slice(0, 1),
    micros: 52_500,
  },
  {
    id: 'nano-banana-reference',
    name: 'Nano Banana Reference',
    provider: 'google',
    path: imagePaths.gemini,
    images: inputs,
    micros: 54_000,
  },
];

describe('every model', () => {
  for (const { id, name, provider, path, images, micros } of models) {
    const body = { model: id, prompt, n: 2, ...(images.length > 0 && { images }) };

    test(`${id} with a live key asks its provider and charges each image`, async () => {
      const owner = await newKey();
      const first = gateway.upstream.requests.length;
      const reply = await draw(owner.key, body);
      await assertCharged(reply, { ...owner, images: 2, micros: 2 * micros });
      assert.equal((await recordsOf(owner.key))[0]!.model, name);
      // Where a provider makes one image a call, there are two calls.
      const calls = provider === 'openai' ? 1 : 2;
      const asked = gateway.upstream.requests.slice(first).filter((request) => request.path === path);
      assert.equal(asked.length, calls);
      const { headers } = reply;
      assert.deepEqual([headers['x-service-route'], headers['x-service-attempts']], [provider, String(calls)]);
      assert.equal(headers['x-service-mode'], undefined);
      for (const { body: sent } of asked) {
        const text = typeof sent === 'string' ? sent : JSON.stringify(sent);
        assert.ok(text.includes(prompt));
        const files = text.match(/filename=|inlineData|"input_image/g) ?? [];
        assert.equal(files.length, images.length, 'every input goes along');
      }
      assert.ok(Math.abs(reply.json<Answer>().created - Date.now() / 1_000) < 60);
      for (const url of urlsOf(reply)) assert.ok(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(png));
    });

    test(`${id} with a test key is drawn by the sandbox at the same price, and asks nobody`, async () => {
      const owner = await gateway.makeKey();
      const first = gateway.upstream.requests.length;
      const reply = await draw(owner.key, { ...body, ...(id.startsWith('nano') ? {} : { size: '512x256' }) });
      await assertCharged(reply, { ...owner, mode: 'test', images: 2, micros: 2 * micros });
      assert.equal(gateway.upstream.requests.length, first);
      assert.deepEqual([reply.headers['x-service-mode'], reply.headers['x-service-route']], ['test', 'sandbox']);
      const [url, second] = urlsOf(reply);
      assert.notEqual(url, second);
      const bytes = Buffer.from(await (await fetch(url!)).arrayBuffer());
      const side = (at: number) => bytes.readUInt32BE(at);
      assert.deepEqual([side(16), side(20)], id.startsWith('nano') ? [1_024, 1_024] : [512, 256]);
    });
  }
});

describe('what is asked for decides the call and the price', () => {
  const cases: [body: Body, path: string, sent: Body, micros: number][] = [
    [{ size: '1536x1024', quality: 'high' }, imagePaths.generations, { size: '1536x1024', quality: 'high' }, 2 * 79_500],
    [{ size: 'auto', quality: 'low' }, imagePaths.generations, { size: '1024x1024', quality: 'low', n: 1 }, 9_000],
    [{ output_format: 'webp' }, imagePaths.generations, { output_format: 'webp', model: 'gpt-image-2.5-flare' }, 19_500],
    [{ model: 'flux-2', size: '512x512' }, imagePaths.bfl(), { width: 512, height: 512, output_format: 'png' }, 45_000],
    [
      { model: 'nano-banana', aspect_ratio: '16:9', resolution: '4k' },
      imagePaths.gemini,
      { generationConfig: { responseModalities: ['IMAGE'], imageConfig: { aspectRatio: '16:9', imageSize: '4K' } } },
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
      for (const [name, value] of Object.entries(sent)) assert.deepEqual((request!.body as Body)[name], value, name);
    });
  }

  test("an account's own price is a multiple of the list price", async () => {
    const owner = await newKey();
    await updateAccount(gateway.database, owner.account, { priceMultiplierPpm: 500_000 });
    await assertCharged(await draw(owner.key, { n: 3 }), { ...owner, images: 3, micros: 3 * 9_750 });
  });

  test('fields that change nothing are left out, and listed', async () => {
    const { key } = await newKey();
    const reply = await draw(key, { user: 'someone', moderation: 'low', background: 'auto' });
    assert.equal(reply.headers['x-service-ignored'], 'user, moderation');
  });
});

describe('what is refused', () => {
  const file = `data:image/png;base64,${Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>').toString('base64')}`;
  const tooMany = Array.from({ length: 17 }, () => oneInput!);
  /** Of the message: how to mend it. */
  const cases: [what: string, body: Body, param: string, message: RegExp][] = [
    ['no model', { model: undefined }, 'model', /model/],
    ['no prompt', { prompt: undefined }, 'prompt', /prompt/],
    ['a blank prompt', { prompt: ' \n' }, 'prompt', /blanks/],
    ['a prompt too long', { prompt: 'x'.repeat(32_001) }, 'prompt', /32000/],
    ['a shape for a model of sizes', { aspect_ratio: '1:1' }, 'aspect_ratio', /size \(.*quality \(.*low/],
    ['a resolution for a model of sizes', { model: 'flux-2', resolution: '2k' }, 'resolution', /family flux-2 take size/],
    [
      'a size for a model of shapes',
      { model: 'nano-banana', size: '1024x1024' },
      'size',
      /aspect_ratio \(.*16:9.*resolution \(.*4k/,
    ],
    ['a quality for a model of shapes', { model: 'nano-banana', quality: 'low' }, 'quality', /family nano-banana/],
    ['a size of another form', { size: 'large' }, 'size', /multiple of 16 from 64 to 3840/],
    ['a size off the grid', { size: '1000x1000' }, 'size', /multiple of 16/],
    ['a size too long', { size: '3856x1600' }, 'size', /too long/],
    ['a size too narrow', { size: '2048x512' }, 'size', /1:3 to 3:1/],
    ['a size too large for FLUX', { model: 'flux-2', size: '3536x1600' }, 'size', /at most 4194304 pixels/],
    ['a quality that is none', { quality: 'hd' }, 'quality', /low.*medium.*high/],
    ['a ratio that is none', { model: 'nano-banana', aspect_ratio: '7:1' }, 'aspect_ratio', /"?1:1/],
    ['a resolution that is none', { model: 'nano-banana', resolution: '8k' }, 'resolution', /1k.*2k.*4k/],
    ['a format that is none', { output_format: 'gif' }, 'output_format', /png.*jpeg.*webp/],
    ['a format that cannot be chosen', { model: 'nano-banana', output_format: 'png' }, 'output_format', /left out/],
    ['another response_format', { response_format: 'file' }, 'response_format', /url.*b64_json/],
    ['n = 0', { n: 0 }, 'n', /1/],
    ['n = 11', { n: 11 }, 'n', /from 1 to 10/],
    ['n = 1.5', { n: 1.5 }, 'n', /whole|integer/],
    ['n in words', { n: 'two' }, 'n', /n/],
    ['images for text alone', { images: inputs }, 'images', /edit or reference model/],
    ['nothing to edit', { model: 'gpt-image-flare-edit' }, 'images', /exactly 1 image/],
    ['no reference', { model: 'nano-banana-reference', images: [] }, 'images', /1 to 14 images/],
    ['two to edit', { model: 'flux-2-edit', images: inputs }, 'images', /exactly 1 image.*got 2/],
    ['seventeen references', { model: 'gpt-image-sunburst-reference', images: tooMany }, 'images', /1 to 16 images.*got 17/],
    ['bad base64', { model: 'flux-2-edit', images: ['data:image/png;base64,a*b='] }, 'images[0]', /not base64/],
    ['a data URL without base64', { model: 'flux-2-edit', images: ['data:image/png,x'] }, 'images[0]', /must begin with/],
    ['an SVG', { model: 'flux-2-edit', images: [file] }, 'images[0]', /not a PNG, JPEG, WebP or GIF/],
    ['one bad of two', { model: 'flux-2-reference', images: [oneInput, file] }, 'images[1]', /not a PNG/],
    ['a file URL', { model: 'flux-2-edit', images: ['file:///etc/passwd'] }, 'images[0]', /http/],
    ['images that are no list', { model: 'flux-2-edit', images: oneInput }, 'images', /array|list/],
    ['the field `image`', { image: oneInput }, 'image', /send `images`/],
    ['a stream', { stream: true }, 'stream', /not streamed/],
    ['a transparent background', { background: 'transparent' }, 'background', /opaque/],
    ['a mask', { mask: oneInput }, 'mask', /not supported/],
    ['a model of chats', { model: 'gpt-5-mini' }, 'model', /makes no images/],
  ];
  for (const mode of ['live', 'test'] as const) {
    test(`as it is written, with a ${mode} key: nothing is sent, nothing is held`, async () => {
      const owner = await newKey({ mode });
      const [first, earlier] = [gateway.upstream.requests.length, await gateway.balance(owner.account, mode)];
      for (const [what, body, param, message] of cases) {
        const reply = await draw(owner.key, body);
        assert.equal(reply.status, 400, `${what}: ${reply.text}`);
        assert.equal(reply.error.param, param, `${what}: ${reply.error.message}`);
        assert.match(reply.error.message, message, what);
      }
      assert.equal(gateway.upstream.requests.length, first);
      assert.deepEqual(await gateway.balance(owner.account, mode), earlier);
    });

    test(`an address that is not public, with a ${mode} key: no connection`, async () => {
      const { key } = await newKey({ mode });
      const { port } = new URL(hidden.url);
      gateway.upstream.on('/redirect', (response) => void response.writeHead(302, { location: `${hidden.url}/a.png` }).end());
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
        assert.deepEqual([reply.status, reply.error.param], [400, `images[${images.length - 1}]`], `${url}: ${reply.text}`);
        assert.ok(!reply.text.includes(hidden.url), 'where it leads is not told');
      }
      assert.equal(hidden.connections(), 0);
    });

    test(`a model that is not known, or not allowed, with a ${mode} key`, async () => {
      const { key } = await newKey({ mode, models: ['flux-2'] });
      const unknown = await draw(key, { model: 'no-such-model' });
      assert.deepEqual([unknown.status, unknown.error.code], [404, 'model_not_found']);
      const forbidden = await draw(key);
      assert.deepEqual([forbidden.status, forbidden.error.code], [403, 'model_not_allowed_for_key']);
      assert.equal((await draw(key, { model: 'flux-2' })).status, 200);
    });
  }

  test('a request without a key', async () => {
    assert.equal((await gateway.post(generations, { body: { model: 'flux-2', prompt } })).status, 401);
  });
});

describe('inputs by URL', () => {
  test('of an allowed host are fetched and sent on', async () => {
    const { key } = await newKey();
    gateway.upstream.on('/fox.gif', (response) => void response.writeHead(200, { 'content-type': 'text/plain' }).end(gif));
    const first = gateway.upstream.requests.length;
    const reply = await draw(key, { model: 'nano-banana-edit', images: [`${gateway.upstream.url}/fox.gif`] });
    assert.equal(reply.status, 200, reply.text);
    const [fetched, asked] = gateway.upstream.requests.slice(first);
    assert.equal(fetched!.path, '/fox.gif');
    assert.ok(!JSON.stringify(fetched!.headers).includes(key));
    assert.ok(JSON.stringify(asked!.body).includes(gif.toString('base64')));
  });

  test('a link to an image of ours is edited next', async () => {
    const { key } = await newKey();
    const images = urlsOf(await draw(key));
    const first = gateway.upstream.requests.length;
    assert.equal((await draw(key, { model: 'flux-2-edit', images })).status, 200);
    const { input_image: sent } = gateway.upstream.requests[first]!.body as { input_image: string };
    assert.equal(sent, png.toString('base64'));
  });
});

describe('what comes back', () => {
  test('a url serves the file without a key: its type and length, nosniff, ranges', async () => {
    const { key } = await newKey();
    const [url] = urlsOf(await draw(key, { response_format: 'url' }));
    const { headers, status } = await fetch(url!);
    assert.equal(status, 200);
    assert.deepEqual(
      ['content-type', 'content-length', 'x-content-type-options'].map((name) => headers.get(name)),
      ['image/png', String(png.length), 'nosniff'],
    );
    const part = await fetch(url!, { headers: { range: 'bytes=1-3' } });
    assert.deepEqual([part.status, await part.text()], [206, 'PNG']);
    assert.equal((await fetch(url!.slice(0, -1))).status, 404);
  });

  test('b64_json is the file itself, with either key', async () => {
    const { key } = await newKey();
    const { data } = (await draw(key, { n: 2, response_format: 'b64_json' })).json<Answer>();
    assert.deepEqual(data, [{ b64_json: png.toString('base64') }, { b64_json: png.toString('base64') }]);
    const sandbox = await gateway.makeKey();
    const drawn = (await draw(sandbox.key, { size: '64x64', output_format: 'jpeg', response_format: 'b64_json' })).json<Answer>();
    assert.ok(drawn.data[0]!.b64_json!.startsWith('/9j/'));
  });
});

describe('failures', () => {
  test('a part of what was asked for is returned and charged', async (t) => {
    play(t, imagePaths.gemini, geminiDraws, answerStatus(500), geminiDraws);
    const owner = await newKey();
    const reply = await draw(owner.key, { model: 'nano-banana', n: 3 });
    assert.equal(urlsOf(reply).length, 2);
    await assertCharged(reply, { ...owner, images: 2, micros: 2 * 51_000 });
    play(t, imagePaths.generations, openaiDraws(1));
    const other = await newKey();
    await assertCharged(await draw(other.key, { n: 4 }), { ...other, images: 1, micros: 19_500 });
    const sandbox = await gateway.makeKey();
    const drawn = await draw(sandbox.key, { n: 3, size: '64x64', prompt: 'a fox\nsandbox: fail_image=2' });
    await assertCharged(drawn, { ...sandbox, mode: 'test', images: 2, micros: 2 * 19_500 });
  });

  test('more than was asked for is neither returned nor charged', async (t) => {
    play(t, imagePaths.generations, openaiDraws(5));
    const owner = await newKey();
    await assertCharged(await draw(owner.key, { n: 2 }), { ...owner, images: 2, micros: 2 * 19_500 });
  });

  /** `lost`: images that may have been drawn all the same. */
  const whole: [what: string, model: string, path: string, script: Script, status: number, lost?: number][] = [
    ['OpenAI moderates', 'gpt-image-flare', imagePaths.generations, openaiModerates, 400],
    ['BFL moderates', 'flux-2', imagePaths.bflState, bflModerated, 400],
    ['Gemini blocks', 'nano-banana', imagePaths.gemini, geminiRefuses, 400],
    ['a server fails', 'gpt-image-flare', imagePaths.generations, answerStatus(500), 502],
    ['a server is busy', 'flux-2', imagePaths.bfl(), answerStatus(429), 503],
    ['the key is refused', 'nano-banana', imagePaths.gemini, answerStatus(403), 502],
    ['a connection is cut', 'gpt-image-flare', imagePaths.generations, thenReset(null), 503, 2],
    ['nothing can be read', 'flux-2', imagePaths.bflImage, answerStatus(404), 502, 2],
  ];
  for (const [what, model, path, script, status, lost = 0] of whole) {
    test(`${what}: ${status}, and free`, async (t) => {
      play(t, path, script);
      const owner = await newKey();
      const reply = await draw(owner.key, { model, n: 2 });
      assert.equal(reply.status, status, reply.text);
      assert.equal(reply.costMicros ?? 0, 0);
      assert.ok(!reply.text.includes(upstreamKey) && !reply.text.includes(gateway.upstream.url));
      await assertFree(owner);
      const micros = model === 'flux-2' ? 30_000 : 13_000;
      assert.deepEqual(await lossesOf(owner.account), lost > 0 ? [lost * micros] : []);
    });
  }

  test('BFL is asked until the image is ready', async (t) => {
    play(t, imagePaths.bflState, bflPending, bflReady(gateway.upstream));
    const owner = await newKey();
    await assertCharged(await draw(owner.key, { model: 'flux-2' }), { ...owner, images: 1, micros: 45_000 });
  });
});

/** A model for each, so that what one does to the health of its route does not touch the others. */
const secondRoutes: readonly {
  readonly model: string;
  readonly what: string;
  readonly script: Script;
  readonly expected: readonly [status: number, route: string | undefined, attempts: string | undefined];
}[] = [
  { model: 'house-1', what: 'stands by', script: openaiDraws(), expected: [200, 'local', '1'] },
  { model: 'house-2', what: 'serves when the first fails', script: answerStatus(500), expected: [200, 'openai', '2'] },
  { model: 'house-3', what: 'serves when the first refuses our key', script: answerStatus(401), expected: [200, 'openai', '2'] },
  {
    model: 'house-4',
    what: 'is not asked what the first found wrong',
    script: openaiModerates,
    expected: [400, undefined, undefined],
  },
];

async function lossesOf(account: string): Promise<number[]> {
  const entries = gateway.database.read.selectFrom('entries').select('loss_micros').where('ledger_id', '=', `${account}:live`);
  return (await entries.execute()).map((entry) => entry.loss_micros).filter((lossMicros) => lossMicros > 0);
}

describe('a second route', () => {
  for (const { model, what, script, expected } of secondRoutes) {
    test(what, async () => {
      gateway.upstream.on('/local/v1/images/generations', script);
      const owner = await newKey();
      const reply = await draw(owner.key, { model, quality: 'low' });
      assert.deepEqual(
        [reply.status, reply.headers['x-service-route'], reply.headers['x-service-attempts']],
        expected,
        reply.text,
      );
      // The operator's own price, without the markup.
      await (reply.status === 200 ? assertCharged(reply, { ...owner, images: 1, micros: 10_000 }) : assertFree(owner));
      if (reply.status !== 200) return;
      // What a fallback drew is not what the cache knows the model's first route by.
      const cached = { 'x-service-cache': 'true' };
      for (const isSecond of [false, true]) {
        const again = await draw(owner.key, { model, quality: 'low' }, cached);
        const isHit = isSecond && what === 'stands by';
        assert.deepEqual([again.status, again.headers['x-service-cache']], [200, isHit ? 'hit' : undefined]);
      }
    });
  }
});

describe('what may be spent', () => {
  test('all images are held for while they are made, and nothing after', async (t) => {
    const owner = await newKey();
    const release = Promise.withResolvers<void>();
    play(t, imagePaths.generations, async (response, request) => {
      await release.promise;
      await openaiDraws(1)(response, request);
    });
    const asked = gateway.upstream.requests.length;
    const running = draw(owner.key, { n: 4 });
    await gateway.upstream.request(asked);
    const { heldMicros, availableMicros } = await gateway.balance(owner.account);
    assert.deepEqual([heldMicros, availableMicros], [4 * 19_500, 5_000_000 - 4 * 19_500]);
    release.resolve();
    await assertCharged(await running, { ...owner, images: 1, micros: 19_500 });
  });

  test('402 says how many images fit, and so many do', async () => {
    const owner = await newKey({ creditUsd: 0.05 });
    const refused = await draw(owner.key, { n: 4 });
    assert.deepEqual([refused.status, refused.error.code], [402, 'insufficient_balance']);
    const { affordable_images: affordable, required_micros: required, left_micros: left } = refused.error.details!;
    assert.deepEqual([affordable, required, left], [2, 78_000, 50_000]);
    assert.match(refused.error.message, /Up to 2 images would fit: send `n` of at most that/);
    assert.equal((await draw(owner.key, { n: 2 })).costMicros, 39_000);
    const last = await draw(owner.key);
    assert.deepEqual([last.status, last.error.details!['affordable_images']], [402, 0]);
  });

  test("a key's caps are 429", async () => {
    for (const cap of ['dailyCapMicros', 'monthlyCapMicros'] as const) {
      const { key } = await newKey({ [cap]: 40_000 as Micros });
      const refused = await draw(key, { n: 3 });
      const code = cap === 'dailyCapMicros' ? 'key_daily_limit_reached' : 'key_monthly_limit_reached';
      assert.deepEqual([refused.status, refused.error.code, refused.error.details!['affordable_images']], [429, code, 2]);
      assert.equal((await draw(key, { n: 2 })).status, 200);
    }
  });
});

describe('the same request again', () => {
  test('under an Idempotency-Key: the same urls, free; another body is a conflict', async () => {
    const owner = await newKey();
    const headers = { 'idempotency-key': 'fox-1' };
    const first = await draw(owner.key, { n: 2 }, headers);
    const asked = gateway.upstream.requests.length;
    const again = await draw(owner.key, { n: 2 }, headers);
    assert.deepEqual(urlsOf(again), urlsOf(first));
    assert.deepEqual([again.costMicros, again.headers['x-service-cache']], [0, 'idempotent-replay']);
    const other = await draw(owner.key, { n: 1 }, headers);
    assert.deepEqual([other.status, other.error.code], [422, 'idempotency_conflict']);
    assert.equal(gateway.upstream.requests.length, asked);
    await assertCharged(first, { ...owner, images: 2, micros: 39_000 });
  });

  test('two at once under one key are one', async () => {
    const owner = await newKey();
    const headers = { 'idempotency-key': 'fox-2' };
    const replies = await Promise.all([1, 2, 3].map(() => draw(owner.key, {}, headers)));
    assert.equal(new Set(replies.flatMap(urlsOf)).size, 1);
    assert.deepEqual(
      replies.map(({ costMicros }) => costMicros ?? Number.NaN).toSorted((a, b) => a - b),
      [0, 0, 19_500],
    );
  });

  test('a failure is not kept: the key runs again', async (t) => {
    play(t, imagePaths.generations, answerStatus(500), openaiDraws());
    const owner = await newKey();
    const headers = { 'idempotency-key': 'fox-3' };
    assert.equal((await draw(owner.key, {}, headers)).status, 502);
    await assertCharged(await draw(owner.key, {}, headers), { ...owner, images: 1, micros: 19_500 });
  });

  const cases: [what: string, first: Body, header: string | undefined, hit: boolean][] = [
    ['is drawn anew', {}, undefined, false],
    ['with the header is from the cache', {}, 'true', true],
    ['with the header false is drawn anew', {}, 'false', false],
    ['with a temperature of 0, which images do not have, is drawn anew', { temperature: 0 }, undefined, false],
  ];
  for (const [what, body, header, hit] of cases) {
    test(what, async () => {
      const { key } = await newKey();
      const headers: Record<string, string> = header === undefined ? {} : { 'x-service-cache': header };
      const [first, again] = [await draw(key, body, headers), await draw(key, body, headers)];
      assert.deepEqual([again.headers['x-service-cache'], again.costMicros], hit ? ['hit', 0] : [undefined, 19_500]);
      assert.equal(urlsOf(first)[0] === urlsOf(again)[0], hit);
      assert.equal((await recordsOf(key)).length, hit ? 1 : 2);
    });
  }

  test('an answer leaves the cache before its links end', async () => {
    const { key, account } = await newKey();
    const [url] = urlsOf(await draw(key, {}, { 'x-service-cache': 'true' }));
    const linkEndsMs = Number(new URL(url!).searchParams.get('expires')) * 1_000;
    const rows = gateway.database.read.selectFrom('cached_responses').select('expires_at_ms').where('account_id', '=', account);
    const leftMs = linkEndsMs - (await rows.executeTakeFirstOrThrow()).expires_at_ms;
    assert.ok(leftMs > 3_500_000 && leftMs <= 3_601_000, `${leftMs} ms`);
  });

  test('an answer with fewer images than were asked for is not cached', async (t) => {
    play(t, imagePaths.generations, openaiDraws(1), openaiDraws());
    const { key } = await newKey();
    const headers = { 'x-service-cache': 'true' };
    assert.equal(urlsOf(await draw(key, { n: 2 }, headers)).length, 1);
    assert.equal(urlsOf(await draw(key, { n: 2 }, headers)).length, 2);
  });
});

describe('a client that leaves', () => {
  async function leave(key: string, headers: Readonly<Record<string, string>> = {}) {
    const first = gateway.upstream.requests.length;
    const { request } = gateway.open(generations, { key, headers, body: { model: 'gpt-image-flare', prompt } });
    const asked = await gateway.upstream.request(first);
    request.destroy();
    return asked;
  }
  const isSettled = async (account: string) => {
    while ((await gateway.balance(account)).heldMicros > 0) await setTimeout(25);
  };

  test('pays for what was made meanwhile', async (t) => {
    play(t, imagePaths.generations, async (response, request) => {
      await setTimeout(200);
      await openaiDraws()(response, request);
    });
    const { key, account } = await newKey();
    assert.equal(await (await leave(key)).ended, 'answered');
    await isSettled(account);
    assert.equal((await gateway.balance(account)).availableMicros, 5_000_000 - 19_500);
  });

  test('and under an Idempotency-Key finds it when it comes back', async (t) => {
    play(t, imagePaths.generations, async (response, request) => {
      await setTimeout(200);
      await openaiDraws()(response, request);
    });
    const { key, account } = await newKey();
    const headers = { 'idempotency-key': 'fox-4' };
    await leave(key, headers);
    const again = await draw(key, {}, headers);
    assert.deepEqual([urlsOf(again).length, again.costMicros], [1, 0]);
    assert.equal((await gateway.balance(account)).availableMicros, 5_000_000 - 19_500);
  });

  test("stops what does not come, and pays nothing: what the provider drew in vain is the operator's loss", async (t) => {
    play(t, imagePaths.generations, hang);
    const owner = await newKey();
    assert.equal(await (await leave(owner.key)).ended, 'aborted');
    await isSettled(owner.account);
    await assertFree(owner);
    assert.deepEqual(await lossesOf(owner.account), [13_000]);
  });
});

describe('edits as a form', () => {
  type Part = readonly [name: string, value: string | Blob, fileName?: string];
  const pngFile = new Blob([png], { type: 'image/png' });
  const gifFile = new Blob([gif], { type: 'application/octet-stream' });
  const asked: readonly Part[] = [
    ['model', 'gpt-image-sunburst-reference'],
    ['prompt', prompt],
  ];

  async function sendForm(key: string, parts: readonly Part[], headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    const form = new FormData();
    for (const [name, value, fileName] of parts) {
      if (typeof value === 'string') form.append(name, value);
      else form.append(name, value, fileName ?? 'file');
    }
    const encoded = new Response(form);
    const body = Buffer.from(await encoded.clone().arrayBuffer());
    return gateway.post(edits, { key, headers: { 'content-type': encoded.headers.get('content-type')!, ...headers }, body });
  }

  test('two files and fields are the same request as their JSON, which is taken too', async () => {
    const fields: readonly Part[] = [...asked, ['n', '2'], ['size', '512x512'], ['quality', 'low']];
    const images: readonly Part[] = [
      ['image[]', pngFile, 'a.png'],
      ['image[]', gifFile, 'b.bin'],
    ];
    const json = {
      model: 'gpt-image-sunburst-reference',
      prompt,
      n: 2,
      size: '512x512',
      quality: 'low',
      images: inputs,
    };
    const owners = [await newKey(), await newKey()] as const;
    const first = gateway.upstream.requests.length;
    const replies = [
      await sendForm(owners[0].key, [...fields, ...images]),
      await gateway.post(edits, { key: owners[1].key, body: json }),
    ];
    // Low quality, and two inputs for each: 0.006 + 2 × 0.01.
    for (const [index, reply] of replies.entries()) {
      await assertCharged(reply, { ...owners[index]!, images: 2, micros: 2 * 39_000 });
    }
    const sent = gateway.upstream.requests.slice(first).map(({ body }) => String(body).replaceAll(/-{2,}[\w-]+/g, '--boundary'));
    assert.equal(sent.length, 2);
    assert.equal(sent[0], sent[1]);
    assert.match(sent[0]!, /filename="image-2\.gif"\r\ncontent-type: image\/gif/);
  });

  test('under an Idempotency-Key another boundary is the same request', async () => {
    const { key } = await newKey();
    const headers = { 'idempotency-key': 'form' };
    const parts: readonly Part[] = [...asked, ['image', pngFile]];
    const [first, again] = [await sendForm(key, parts, headers), await sendForm(key, parts, headers)];
    assert.deepEqual([urlsOf(again), again.costMicros], [urlsOf(first), 0]);
  });

  const refusals: [what: string, parts: readonly Part[], param: string | null, message: RegExp][] = [
    ['a mask', [...asked, ['image', pngFile], ['mask', pngFile]], 'mask', /mask is not supported/],
    ['no image', asked, 'images', /images is required/],
    [
      'a file that is no image',
      [...asked, ['image', new Blob(['<svg/>'], { type: 'image/png' })]],
      'image',
      /image 1 of the form/,
    ],
    ['a file under another name', [...asked, ['image', pngFile], ['photo', pngFile]], 'photo', /must be text/],
    ['a field given twice', [...asked, ['n', '1'], ['n', '2'], ['image', pngFile]], 'n', /twice/],
    ['a number that is none', [...asked, ['n', 'many'], ['image', pngFile]], 'n', /n/],
    ['a private address', [...asked, ['image', 'http://127.0.0.1/a.png']], 'images[0]', /public address/],
    [
      'a model of text alone',
      [
        ['model', 'flux-2'],
        ['prompt', prompt],
        ['image', pngFile],
      ],
      'images',
      /edit or reference/,
    ],
  ];
  test('what is refused', async () => {
    const owner = await newKey();
    for (const [what, parts, param, message] of refusals) {
      const reply = await sendForm(owner.key, parts);
      assert.deepEqual([reply.status, reply.error.param], [400, param], `${what}: ${reply.text}`);
      assert.match(reply.error.message, message, what);
    }
    await assertFree(owner);
  });

  test('a form that cannot be cut into its parts is a 400, and what is no form and no JSON a 415', async () => {
    const owner = await newKey();
    const typed = (contentType: string, body: string) =>
      gateway.post(edits, { key: owner.key, headers: { 'content-type': contentType }, body });
    const malformed: [contentType: string, body: string][] = [
      ['multipart/form-data; boundary=x', '--y\r\n\r\n--y--'],
      ['multipart/form-data; boundary=x', '--x\r\ncontent-disposition: form-data; name="model"\r\n\r\nflux-2-edit'],
      ['multipart/form-data; boundary=x', ''],
      ['multipart/form-data; charset=utf-8', '--x--'],
    ];
    for (const [contentType, body] of malformed) {
      const reply = await typed(contentType, body);
      assert.deepEqual([reply.status, reply.error.code], [400, 'invalid_request'], `${contentType} ${body}: ${reply.text}`);
    }
    for (const contentType of ['text/plain', 'multipart/mixed; boundary=x'])
      assert.equal((await typed(contentType, 'x')).status, 415);
    const form = await gateway.post(generations, {
      key: owner.key,
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
      body: '--x--',
    });
    assert.equal(form.status, 415, 'generations take JSON alone');
    await assertFree(owner);
  });
});
