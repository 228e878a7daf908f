// Image models in the catalogue, over HTTP and on the command line: who sees which, and at what
// price.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startGateway } from '../support/gateway.ts';

type Json = Record<string, unknown>;

const gateway = await startGateway({
  pricing: { markup: 1.5 },
  aliases: { draw: 'gpt-image-flare' },
  image_models: {
    'nano-banana': { prices: { output: { '1k': 0.1, '2k': 0.2, '4k': 0.3 } } },
    house: {
      mode: 'edit',
      family: 'flux-2',
      routes: [{ provider: 'local', model: 'x' }],
      prices: { output: { low: 1, medium: 2, high: 3 } },
    },
  },
});
after(() => gateway.stop());

const ofOpenai = [
  'gpt-image-flare',
  'gpt-image-sunburst',
  'gpt-image-flare-edit',
  'gpt-image-sunburst-reference',
];
const ofBfl = ['flux-2', 'flux-2-edit', 'flux-2-reference'];
const ofGoogle = ['nano-banana', 'nano-banana-edit', 'nano-banana-reference'];

async function imageIds(path: string, key?: string): Promise<unknown[]> {
  const { data } = (await gateway.get(path, { key })).json<{ data: Json[] }>();
  return data.filter(({ type }) => type === 'image').map(({ id }) => id);
}

test('the list has the image models that can run; a test key sees all, a restricted key only its own', async () => {
  const { key: testKey } = await gateway.makeKey({ mode: 'test' });
  const { key: own } = await gateway.makeKey({
    mode: 'test',
    models: ['flux-2', 'gpt-image-flare'],
  });
  for (const path of ['/v1/models', '/v1/models/info']) {
    assert.deepEqual(await imageIds(path), [...ofOpenai, ...ofGoogle, 'house', 'draw']);
    assert.deepEqual(await imageIds(path, testKey), [
      ...ofOpenai,
      ...ofBfl,
      ...ofGoogle,
      'house',
      'draw',
    ]);
    assert.deepEqual(await imageIds(path, own), ['gpt-image-flare', 'flux-2', 'draw']);
  }
});

test('a model is found by any of its names, and without a live route only by a test key', async () => {
  const { key } = await gateway.makeKey({ mode: 'test' });
  const entry = (await gateway.get('/v1/models/gpt-image-flare')).json();
  assert.deepEqual(
    [entry['id'], entry['object'], entry['type'], entry['owned_by'], entry['display_name']],
    ['gpt-image-flare', 'model', 'image', 'openai', 'GPT Image Flare'],
  );
  assert.equal((await gateway.get('/v1/models/draw')).json()['id'], 'draw');
  assert.equal(
    (await gateway.get('/v1/models/openai/gpt-image-flare-2026-11-20')).json()['id'],
    'gpt-image-flare',
  );
  assert.equal((await gateway.get('/v1/models/flux-2')).error.code, 'model_not_found');
  assert.equal((await gateway.get('/v1/models/flux-2', { key })).json()['id'], 'flux-2');
});

test('info has token prices of 0, and image prices with the markup unless the operator states them', async () => {
  const { data } = (await gateway.get('/v1/models/info')).json<{ data: Json[] }>();
  const infoOf = (id: string) => data.find((entry) => entry['id'] === id)!;
  const edit = infoOf('gpt-image-flare-edit');
  assert.deepEqual(
    [
      edit['input_price_per_1m'],
      edit['output_price_per_1m'],
      edit['cache_write_price_per_1m'],
      edit['cache_read_price_per_1m'],
    ],
    [0, 0, 0, 0],
  );
  assert.deepEqual(edit['image_prices'], {
    per_megapixel: true,
    output: { low: 0.009, medium: 0.0195, high: 0.0795 },
    further_megapixel: { low: 0.009, medium: 0.0195, high: 0.0795 },
    input_image: { low: 0.015, medium: 0.015, high: 0.015 },
    input_per_megapixel: false,
    tokens: { text: 7.5, cached_text: 1.875, image: 12, cached_image: 3, output: 45 },
  });
  assert.deepEqual(infoOf('nano-banana')['image_prices'], {
    per_megapixel: false,
    output: { '1k': 0.1, '2k': 0.2, '4k': 0.3 },
    further_megapixel: {},
    input_image: {},
    input_per_megapixel: false,
    tokens: null,
  });
});

test('the command line lists image models, says why one cannot run, and restricts keys to them', async () => {
  const cli = gateway.program.cli.bind(gateway.program);
  const listed = await cli<Json[]>('models', 'list');
  const flare = listed.find(({ id }) => id === 'gpt-image-flare')!;
  assert.deepEqual(
    [flare['type'], flare['mode'], flare['live'], flare['routes']],
    ['image', 'text-to-image', true, ['openai']],
  );
  const problems = await cli<{ id: string; problem: string }[]>('models', 'check');
  assert.deepEqual(
    problems.filter(({ problem }) => problem.includes('bfl')),
    ofBfl.map((id) => ({ id, problem: 'no provider of it is switched on (bfl)' })),
  );
  const { account } = await gateway.makeKey();
  const { key } = await cli<{ key: string }>(
    'keys',
    'create',
    '--account',
    account,
    '--mode',
    'test',
    '--models',
    'draw,nano-banana',
  );
  assert.deepEqual(await imageIds('/v1/models', key), ['gpt-image-flare', 'nano-banana', 'draw']);
});
