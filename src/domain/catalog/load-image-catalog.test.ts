import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { loadYaml, testFaults } from '../../../tests/support/config-file.ts';
import { picosFromUsd } from '../../lib/money.ts';
import { loadCatalog } from './load-catalog.ts';

function load(yaml: string, env: Record<string, string> = { OPENAI_API_KEY: 'k' }) {
  return loadCatalog(loadYaml(yaml, env));
}

const imageModel = (yaml: string, id: string) => load(yaml).images.resolve(id)!;
const routes = 'routes: [{ provider: openai, model: x }]';
const whole = `mode: edit, family: gpt-image, ${routes}`;
const prices = 'prices: { output: { low: 0.01, medium: 0.02, high: 0.03 } }';

describe('an override of a built-in model', () => {
  test('changes the named fields and keeps the others', () => {
    const plain = imageModel('', 'flux-2-reference');
    const changed = imageModel(
      'image_models: { flux-2-reference: { display_name: F, mode: reference, images_max: 2, input_images_max: 3 } }',
      'flux-2-reference',
    );
    assert.deepEqual(changed, {
      ...plain,
      displayName: 'F',
      countMax: 2,
      inputImages: { min: 1, max: 3 },
    });
  });

  test('replaces the whole price', () => {
    const { price } = imageModel(
      'image_models: { flux-2-edit: { prices: { output: { low: 1, medium: 2, high: 3 }, per_megapixel: false } } }',
      'flux-2-edit',
    );
    assert.deepEqual(price, {
      isListPrice: true,
      perMegapixel: false,
      output: { low: picosFromUsd(1), medium: picosFromUsd(2), high: picosFromUsd(3) },
      furtherMegapixel: { low: picosFromUsd(1), medium: picosFromUsd(2), high: picosFromUsd(3) },
      input: { low: 0n, medium: 0n, high: 0n },
      inputPerMegapixel: false,
      tokens: null,
    });
    assert.equal(imageModel('', 'flux-2-edit').price!.isListPrice, false);
  });

  test('moves it to another provider', () => {
    const catalog = load('image_models: { flux-2: { routes: [{ provider: openai, model: x }] } }');
    assert.deepEqual(catalog.images.liveRoutes(catalog.images.resolve('flux-2')!), [
      { provider: 'openai', upstreamModels: { low: 'x', medium: 'x', high: 'x' } },
    ]);
  });
});

describe('a new image model', () => {
  test('needs a mode, a family and a route, and gets its family’s parameters', () => {
    const model = imageModel(`image_models: { mine: { ${whole} } }`, 'mine');
    const { id, displayName, ownedBy, inputImages, price, parameters } = model;
    assert.deepEqual(
      { id, displayName, ownedBy, inputImages, price },
      {
        id: 'mine',
        displayName: 'mine',
        ownedBy: 'openai',
        inputImages: { min: 1, max: 1 },
        price: null,
      },
    );
    assert.deepEqual(parameters, imageModel('', 'gpt-image-flare').parameters);
  });

  test('gives a warning without a price, or with a price of 0', () => {
    const warningsOf = (fields: string) =>
      load(`image_models: { m: { ${whole}, ${fields} } }`).warnings;
    assert.deepEqual(load(`image_models: { m: { ${whole} } }`).warnings, [
      'The image model m has no price, so it never runs; set image_models.m.prices.',
    ]);
    assert.deepEqual(warningsOf('prices: { output: { low: 0, medium: 0, high: 0.1 } }'), [
      'The image model m is partly free of charge: its price is 0 for low, medium.',
    ]);
    assert.deepEqual(warningsOf(prices), []);
  });
});

describe('names', () => {
  test('an alias refers to an image model by its id or another of its names', () => {
    const { images, aliases } = load(
      'aliases: { draw: flux-2, dated: gpt-image-flare-20261120, vendor: google/nano-banana, fast: gpt-5 }',
    );
    const found = (
      'draw dated vendor openai/gpt-image-flare-latest gpt-image-2.6-flare ' +
      'gpt-image-2.6-sunburst gpt-image-2.5-flare'
    )
      .split(' ')
      .map((name) => images.resolve(name)?.id);
    assert.deepEqual(found, [
      'flux-2',
      'gpt-image-flare',
      'nano-banana',
      'gpt-image-flare',
      'gpt-image-flare',
      'gpt-image-sunburst',
      undefined,
    ]);
    assert.deepEqual([...images.aliases.keys()], ['draw', 'dated', 'vendor']);
    assert.deepEqual([...aliases.keys()], ['fast']);
  });

  test('chat models and image models are not found among each other', () => {
    const catalog = load('');
    assert.deepEqual([catalog.images.resolve('gpt-5'), catalog.resolve('flux-2')], [null, null]);
  });
});

describe('an invalid configuration is refused with its line', () => {
  const faults: Readonly<Record<string, RegExp>> = {
    'image_models:\n  m: { family: flux-2 }\n':
      /^2:6: image_models\.m\.mode is required for a model that is not built in/,
    'image_models:\n  m: { mode: edit }\n': /^2:6: .*\.m\.family is required/,
    'image_models:\n  flux-3: { mode: edit, family: flux-2 }\n':
      /^2:11: .*\.flux-3\.routes is required .* built-in flux-2\?/,
    'image_models:\n  m: { mode: draw }\n':
      /^2:14: .*\.m\.mode must be `text-to-image`, `edit` or `reference`; got "draw"/,
    'image_models:\n  flux-2: { mode: edit }\n':
      /^2:19: .*\.mode is `text-to-image` for this built-in model; got `edit`/,
    'image_models:\n  flux-2: { family: gpt-image }\n':
      /^2:21: .*\.family is `flux-2` for this built-in model/,
    'image_models:\n  m: { price: 1 }\n':
      /^2:8: .*\.m\.price is not a known field; .* Did you mean `prices`\?/,
    'image_models:\n  m: { mode: edit, family: flux-2, routes: [{ provider: opena, model: x }] }\n':
      /^2:57: .*must be the name of a provider; got "opena"/,
    'image_models:\n  m: { routes: [{ provider: anthropic, model: x }] }\n':
      /^2:29: .*anthropic is of kind `anthropic`, which does not.* `openai`, `openai-compatible`, `google`, `azure`, `bfl`/,
    'image_models:\n  m: { mode: edit, family: flux-2, routes: [{ provider: google, model: x }] }\n':
      /^2:57: .*is of kind `google`, which does not accept the parameters of the family flux-2/,
    'image_models:\n  m: { mode: edit, family: nano-banana, routes: [{ provider: bfl, model: x }] }\n':
      /^2:62: .*It accepts `size` and `quality`/,
    'image_models:\n  m: { routes: [{ provider: bfl }] }\n':
      /^2:17: .*routes\[0\] has neither `model` nor `models`/,
    'image_models:\n  m: { routes: [{ provider: bfl, model: x, models: { low: y } }] }\n':
      /^2:17: .*has both `model` and `models`/,
    'image_models:\n  m: { mode: edit, family: flux-2, routes: [{ provider: bfl, models: { low: y } }] }\n':
      /^2:70: .*models\.medium is required: the upstream model for this tier/,
    [`image_models:\n  m: { ${whole}, prices: { output: { low: 1, high: 1 } } }\n`]:
      /^2:99: .*prices\.output\.medium is required/,
    [`image_models:\n  m: { ${whole}, prices: { output: { low: 1, medium: 1, high: 1, 2k: 1 } } }\n`]:
      /^2:133: .*output\.2k is not a tier of its family\. .* low, medium, high/,
    [`image_models:\n  m: { ${whole}, prices: { output: { low: 1, medium: 1, high: 1 }, input_image: { low: 1 } } }\n`]:
      /^2:144: .*input_image\.medium is required/,
    'image_models:\n  m: { prices: { output: { low: 0.0000001 } } }\n':
      /^2:33: .*output\.low must have at most six decimals/,
    'image_models:\n  m: { prices: { output: {}, input_image: 0.0000001 } }\n':
      /^2:43: .*input_image must have at most six decimals/,
    'image_models:\n  m: { created: 2026-02-30 }\n':
      /^2:17: .*\.created must be a day of the calendar/,
    [`image_models:\n  gpt-5: { ${whole} }\n`]:
      /^2:10: .*image_models\.gpt-5 is the id of both a chat model and an image model/,
    'models:\n  flux-2: { routes: [{ provider: groq, model: x }] }\n':
      /^2:11: .*models\.flux-2 is the id of both a chat model and an image model/,
    'models:\n  m: { routes: [{ provider: bfl, model: x }] }\n':
      /^2:29: .*must be a provider of chat models; bfl is of kind `bfl`/,
    'aliases:\n  flux-2: flux-2-edit\n': /^2:11: .*aliases\.flux-2 is the id of a model/,
    'aliases:\n  draw: flux-3\n':
      /^2:9: .*must name a model; got "flux-3".* Did you mean `flux-2`\?/,
    'providers:\n  b: { kind: bfl, base_url: x, api_key: k }\n':
      /^2:29: .*base_url must be a whole address/,
  };
  testFaults(faults, load);
});

test("the guide's example is a valid configuration", () => {
  const guide = readFileSync(
    join(import.meta.dirname, '..', '..', '..', 'docs', 'images.md'),
    'utf8',
  );
  const { images, warnings } = load(/```yaml\n([^`]*)```/u.exec(guide)![1]!);
  assert.equal(images.resolve('house-style')?.inputImages.max, 4);
  assert.equal(images.resolve('draw')?.id, 'flux-2');
  assert.deepEqual(warnings, []);
});
