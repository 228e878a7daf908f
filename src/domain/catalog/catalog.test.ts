import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { createCatalog, type Catalog } from './catalog.ts';
import { modelAt } from '../../../tests/support/model-at.ts';

const models = [
  modelAt('claude-haiku-4-5', 'anthropic', ['anthropic']),
  modelAt('gpt-4o', 'openai', ['openai', 'azure']),
  modelAt('gpt-4o-2024-05-13', 'openai', ['openai']),
  modelAt('magistral-medium-latest', 'mistral', ['mistral']),
  modelAt('llama-3.1-8b', 'meta', ['groq']),
  modelAt('meta/llama', 'acme', ['local']),
  modelAt('llama', 'meta', ['local']),
  modelAt('meta/solo', 'acme', ['local']),
  modelAt('solo-20250101', 'meta', ['local']),
  modelAt('MiniMax-M3', 'Minimax', ['minimax']),
  modelAt('acme/deep/id', 'acme', ['local']),
];
const aliases = new Map([
  ['fast', models[0]!],
  ['claude-haiku-4-5-20990101', models[1]!],
]);
const catalog: Catalog = createCatalog({
  models,
  aliases,
  liveProviders: new Set(['azure', 'local']),
  warnings: [],
});

describe('model names', () => {
  const cases: [name: string, id: string | null, why: string][] = [
    ['gpt-4o', 'gpt-4o', 'an id'],
    ['gpt-4o-2024-05-13', 'gpt-4o-2024-05-13', 'an id before its date is looked at'],
    ['magistral-medium-latest', 'magistral-medium-latest', 'an id that ends in -latest'],
    ['fast', 'claude-haiku-4-5', 'an alias'],
    ['claude-haiku-4-5-20990101', 'gpt-4o', 'an alias before its date is looked at'],
    ['claude-haiku-4-5-20251001', 'claude-haiku-4-5', 'an id with a date'],
    ['gpt-4o-2024-08-06', 'gpt-4o', 'an id with a date in dashes'],
    ['gpt-4o-latest', 'gpt-4o', 'an id with -latest'],
    ['openai/gpt-4o', 'gpt-4o', 'the owner'],
    ['azure/gpt-4o', 'gpt-4o', 'a provider of a route'],
    ['groq/llama-3.1-8b', 'llama-3.1-8b', 'the provider'],
    ['meta/llama-3.1-8b', 'llama-3.1-8b', 'the owner, who is not the provider'],
    ['anthropic/claude-haiku-4-5-20251001', 'claude-haiku-4-5', 'the owner, and a date'],
    ['minimax/MiniMax-M3', 'MiniMax-M3', 'the owner in other capitals'],
    ['acme/deep/id', 'acme/deep/id', 'an id with slashes'],
    ['acme/acme/deep/id', 'acme/deep/id', 'the owner before an id with slashes'],
    ['meta/llama', 'meta/llama', 'an id before its vendor is looked at'],
    ['meta/solo-20250101', null, 'ambiguous: meta/solo with a date, or solo-20250101 of meta'],
    ['anthropic/gpt-4o', null, 'another vendor'],
    ['deep/id', null, 'the end of an id'],
    ['gpt-4', null, 'a prefix'],
    ['gpt-4o-mini', null, 'a longer id'],
    ['gpt-4o-', null, 'an empty date'],
    ['gpt-4o-2024-13-01', null, 'no such month'],
    ['gpt-4o-2023-02-29', null, 'no such day'],
    ['gpt-4o-2024-0806', null, 'a date half in dashes'],
    ['gpt-4o-202408', null, 'half a date'],
    ['claude-haiku-4-5[1m]', 'claude-haiku-4-5', 'the whole context window, for Claude Desktop'],
    ['anthropic/claude-haiku-4-5-20251001[1m]', 'claude-haiku-4-5', 'the owner, a date and [1m]'],
    ['fast[1m]', 'claude-haiku-4-5', 'an alias with [1m]'],
    ['fast-latest', null, 'an alias with -latest'],
    ['openai/fast', null, 'an alias with a vendor'],
    ['GPT-4O', null, 'other capitals'],
    [' gpt-4o', null, 'a space'],
    ['/gpt-4o', null, 'an empty vendor'],
    ['openai/', null, 'an empty id'],
    ['', null, 'nothing'],
    ['__proto__', null, 'a name of the language'],
  ];
  for (const [name, id, why] of cases) {
    test(`"${name}": ${id ?? 'no model'} (${why})`, () => {
      assert.equal(catalog.resolve(name)?.id ?? null, id);
    });
  }

  test('for any text, a model is only found by a name that contains its whole id, or by an alias', () => {
    const piece = fc.constantFrom(
      'gpt-4o',
      'llama',
      'meta',
      '/',
      '-',
      'latest',
      '2024-08-06',
      '20251001',
      'solo',
      'fast',
      'x',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
        const name = pieces.join('');
        const found = catalog.resolve(name);
        assert(found === null || aliases.has(name) || name.includes(found.id));
      }),
    );
  });
});

test('the live routes are those with an enabled provider, in order', () => {
  const gpt = catalog.resolve('gpt-4o')!;
  assert.deepEqual(
    catalog.liveRoutes(gpt).map((route) => route.provider),
    ['azure'],
  );
  assert.deepEqual(catalog.liveRoutes(catalog.resolve('claude-haiku-4-5')!), []);
});

test('the list contains every model in order', () => {
  assert.deepEqual(catalog.list(), models);
});
