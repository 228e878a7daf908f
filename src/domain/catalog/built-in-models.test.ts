// Checks the data in catalog/*-models.json: every entry is complete and plausible, and no known fact is
// missing or changed.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { knownProviderOf } from '../../config/known-providers.ts';
import { loadConfig } from '../../config/load.ts';
import {
  ModelEntry,
  modelNamePattern,
  priceSetsOf,
  pricesOf,
  type TokenPricesEntry,
} from '../../config/model-schema.ts';
import { compileSchema } from '../../lib/schema.ts';
import { loadCatalog, readBuiltInCatalog } from './load-catalog.ts';
import { priceAt } from './price.ts';

const catalog = readBuiltInCatalog();
const checkEntry = compileSchema(ModelEntry);

describe('every built-in model', () => {
  test('has a unique id', () => {
    const ids = catalog.models.map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
    for (const id of ids) assert.match(id, new RegExp(modelNamePattern, 'u'));
  });

  for (const { id, created_is, note, checked, ...entry } of catalog.models) {
    test(`${id} is complete and plausible`, () => {
      assert.equal(checkEntry(entry), null);
      const {
        display_name,
        owned_by,
        created,
        context_tokens = 0,
        max_input_tokens = 0,
        max_output_tokens = 0,
        type = 'chat',
      } = entry;
      assert(display_name && owned_by && created);
      assert(['release', 'release-month', 'first-listed'].includes(created_is));
      assert(created <= catalog.as_of && created >= '2020-01-01', `created ${created}`);
      assert(max_input_tokens > 0 && max_input_tokens <= context_tokens);
      if (type === 'chat') assert(max_output_tokens > 0 && max_output_tokens <= context_tokens);
      else assert(entry.max_output_tokens === undefined);
      assert.equal(entry.dimensions !== undefined, type === 'embedding');
      const { audio: hears = false, ...supports } = entry.supports ?? {};
      assert.deepEqual(Object.keys(supports), ['thinking', 'streaming', 'vision', 'tools']);
      assert(hears || pricesOf(entry).every(({ audio }) => audio === undefined));
      assert(note === undefined || note.length > 0);
      for (const { source, date } of checked ?? []) {
        assert(['litellm', 'genai-prices'].includes(source));
        assert(date <= catalog.as_of && /^\d{4}-\d{2}-\d{2}$/.test(date));
      }
    });

    test(`${id} runs at known providers at exact prices above zero`, () => {
      assert(entry.routes && entry.routes.every(({ provider }) => knownProviderOf(provider)));
      const prices = pricesOf(entry)
        .flatMap(priceSetsOf)
        .flatMap((price) => [price, ...(price.tiers ?? [])]);
      assert(prices.length > 0);
      const units = pricesOf(entry).flatMap(
        ({ million_characters: characters, search, minute }) =>
          characters ?? search ?? minute ?? [],
      );
      assert(units.every((unit) => unit > 0));
      for (const price of prices) {
        const { type } = entry;
        if (units.length > 0) assert(price.input + price.output === 0);
        else if (type === undefined || type === 'speech' || type === 'transcription')
          checkPrices(price);
        else assert(price.input > 0 !== (type === 'moderation') && price.output === 0);
      }
    });
  }
});

test('every model that ends names a successor, which lives half a year longer', () => {
  const byId = new Map(catalog.models.map((model) => [model.id, model]));
  const ending = catalog.models.filter(({ retires_at }) => retires_at !== undefined);
  assert(ending.length > 20);
  for (const { id, retires_at, successor, note } of ending) {
    const { retires_at: later = '9999-12-31' } = byId.get(successor ?? '')!;
    const halfAYear = 183 * 24 * 60 * 60 * 1_000;
    assert(Date.parse(later) - Date.parse(retires_at!) > halfAYear, id);
    assert.doesNotMatch(note ?? '', /ends|end was/, id);
  }
});

/** Reading costs less than writing, and output more than input: swapped columns would fail. */
function checkPrices(price: TokenPricesEntry): void {
  const {
    input,
    output,
    cache_read = input,
    cache_write = input,
    cache_write_1h = cache_write,
    audio = input,
  } = price;
  for (const value of [input, output, cache_read, cache_write, cache_write_1h, audio]) {
    assert(value > 0 && Number(value.toFixed(6)) === value, String(value));
  }
  assert(
    output >= input &&
      cache_read <= input &&
      cache_write >= input &&
      cache_write_1h >= cache_write &&
      audio >= input,
    JSON.stringify(price),
  );
}

test('all of them load with a current price and without a warning', () => {
  const loaded = loadCatalog(
    loadConfig({
      env: { TOLLGATE_DATA_DIR: tmpdir() },
      cwd: join(import.meta.dirname, 'no-such-folder'),
    }),
  );
  assert.equal(loaded.list().length, catalog.models.length);
  assert.deepEqual(loaded.warnings, []);
  for (const model of loaded.list()) {
    assert(priceAt(model, Date.parse(catalog.as_of)), model.id);
    assert.equal(loaded.resolve(model.id), model);
    assert.equal(loaded.resolve(`${model.ownedBy}/${model.id}`), model);
  }
});

type Fact = {
  id: string;
  type: string;
  provider: string;
  upstream_id: string;
  context: number;
  max_input: number;
  max_output: number;
  release_date: string | null;
  price_usd_per_mtok: FactPrices;
  tiers: (FactPrices & { above_input_tokens: number })[];
  scheduled: (FactPrices & { from: string })[];
} & Record<'thinking' | 'vision' | 'streaming' | 'tools', boolean>;
type FactPrices = Partial<Record<keyof TokenPricesEntry, number | null>>;

test('every chat model of the collected facts is in the catalogue with its limits and prices', (t) => {
  const path = join(import.meta.dirname, '..', '..', '..', '..', 'shared', 'facts', 'models.json');
  if (!existsSync(path)) {
    assert(!process.env['CI'], `${path} is missing`);
    t.diagnostic('skipped: ../shared/facts/models.json is not here');
    return;
  }
  const facts = (JSON.parse(readFileSync(path, 'utf8')) as { models: Fact[] }).models.filter(
    ({ type }) => type === 'chat',
  );
  assert.equal(facts.length, 97);
  for (const fact of facts) {
    if (!corrected.has(fact.id)) compareWithFact(fact);
  }
});

/** Facts found wrong in a comparison with a second price list; the models' notes explain it. */
const corrected: ReadonlySet<string> = new Set(['mistral-large-4', 'magistral-medium-latest']);

function compareWithFact(fact: Fact): void {
  const model = catalog.models.find(({ id }) => id === fact.id)!;
  const { thinking, streaming, vision, tools } = fact;
  const { audio: _, ...supports } = model.supports!;
  assert.deepEqual(supports, { thinking, streaming, vision, tools }, fact.id);
  assert.deepEqual(
    [model.context_tokens, model.max_input_tokens, model.max_output_tokens],
    [fact.context, fact.max_input, fact.max_output],
    fact.id,
  );
  // Clouds come behind the vendor itself.
  const [first, ...others] = model.routes!;
  assert.deepEqual([first!.provider, first!.model], [fact.provider, fact.upstream_id]);
  for (const { provider } of others) assert(['bedrock', 'vertex'].includes(provider), fact.id);
  assert(
    fact.release_date === null
      ? model.created_is === 'first-listed'
      : model.created!.startsWith(fact.release_date),
    fact.id,
  );
  const versions = pricesOf(model);
  const base = versions.find(({ effective_from }) => effective_from === undefined)!;
  assertStates(fact, base, fact.price_usd_per_mtok);
  assert.equal(base.tiers?.length ?? 0, fact.tiers.length, fact.id);
  for (const [index, tier] of fact.tiers.entries()) {
    assert.equal(base.tiers![index]!.above_input_tokens, tier.above_input_tokens, fact.id);
    assertStates(fact, base.tiers![index]!, tier);
  }
  assert.equal(versions.length, 1 + fact.scheduled.length, fact.id);
  for (const scheduled of fact.scheduled) {
    assertStates(
      fact,
      versions.find(({ effective_from }) => effective_from === scheduled.from)!,
      scheduled,
    );
  }
}

/** The catalogue may complete a null or missing fact; the model's note then explains it. */
function assertStates({ id }: Fact, price: TokenPricesEntry, fact: FactPrices): void {
  for (const bucket of [
    'input',
    'output',
    'cache_write',
    'cache_read',
    'cache_write_1h',
  ] as const) {
    if (typeof fact[bucket] === 'number')
      assert.equal(price[bucket], fact[bucket], `${id} ${bucket}`);
  }
}
