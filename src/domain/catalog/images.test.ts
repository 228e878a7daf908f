// Checks the data in catalog/images.json: every entry is complete and plausible, and no known fact
// is missing or changed.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ImageModelEntry } from '../../config/image-model-schema.ts';
import { imageParametersOfKind } from '../../terms/provider-kind.ts';
import { knownProviders } from '../../config/known-providers.ts';
import { loadConfig } from '../../config/load.ts';
import { compileSchema } from '../../lib/schema.ts';
import { loadCatalog, readBuiltInCatalog } from './load-catalog.ts';
import { loadImageModels, readBuiltInImageCatalog } from './load-image-catalog.ts';

const builtIn = readBuiltInImageCatalog();
const models = loadImageModels(loadConfig({ env: {}, cwd: '/' }));
const checkEntry = compileSchema(ImageModelEntry);

test('there are ten models in families of four, three and three, and no chat model has their names', () => {
  assert.deepEqual(
    models.map(({ id, mode, inputImages: { min, max } }) => `${id} ${mode} ${min}-${max}`),
    [
      'gpt-image-flare text-to-image 0-0',
      'gpt-image-sunburst text-to-image 0-0',
      'gpt-image-flare-edit edit 1-1',
      'gpt-image-sunburst-reference reference 1-16',
      'flux-2 text-to-image 0-0',
      'flux-2-edit edit 1-1',
      'flux-2-reference reference 1-8',
      'nano-banana text-to-image 0-0',
      'nano-banana-edit edit 1-1',
      'nano-banana-reference reference 1-14',
    ],
  );
  const chatIds = new Set(readBuiltInCatalog().models.map(({ id }) => id));
  assert.deepEqual(
    models.filter(({ id }) => chatIds.has(id)),
    [],
  );
});

describe('every built-in image model', () => {
  for (const { id, note, ...entry } of builtIn.models) {
    test(`${id} is complete and plausible`, () => {
      assert.equal(checkEntry(entry), null);
      assert(entry.display_name && entry.owned_by && entry.created === builtIn.as_of);
      assert(note === undefined || note.length > 0);
      const model = models.find((loaded) => loaded.id === id)!;
      assert(model.price && Object.values(model.price.output).every((picos) => picos > 0n));
      assert.equal(
        entry.prices?.input_image !== undefined,
        model.inputImages.max > 0,
        'an input has a price where there is one',
      );
      for (const { provider } of model.routes) {
        assert.equal(imageParametersOfKind(knownProviders[provider]!.kind), model.parameters.kind);
      }
    });
  }
});

test('flux uses a different upstream model for each quality', () => {
  const [route] = models.find(({ id }) => id === 'flux-2')!.routes;
  assert.deepEqual(route!.upstreamModels, {
    low: 'flux-2-klein-9b',
    medium: 'flux-2-pro',
    high: 'flux-2-max',
  });
});

test("a provider's usual API key is enough to enable its models", () => {
  const liveWith = (variable: string) => {
    const { images } = loadCatalog(loadConfig({ env: { [variable]: 'k' }, cwd: '/' }));
    return images.list().filter((model) => images.liveRoutes(model).length > 0).length;
  };
  assert.deepEqual(
    ['OPENAI_API_KEY', 'BFL_API_KEY', 'GEMINI_API_KEY', 'XAI_API_KEY'].map(liveWith),
    [4, 3, 3, 0],
  );
});
