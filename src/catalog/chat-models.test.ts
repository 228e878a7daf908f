// Checks the data in catalog/chat-models.json: every row is whole and sane, and no known fact is missing or changed.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { isProviderName } from '../config/known-providers.ts';
import { loadConfig } from '../config/load.ts';
import { ModelEntry, modelNamePattern, pricesOf, type TokenPricesEntry } from '../config/model-schema.ts';
import { compileSchema } from '../lib/schema.ts';
import { loadCatalog, readBuiltInCatalog } from './load-catalog.ts';
import { priceAt } from './price.ts';

const catalog = readBuiltInCatalog();
const checkEntry = compileSchema(ModelEntry);

describe('every built-in model', () => {
  test('has an id of its own', () => {
    const ids = catalog.models.map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
    for (const id of ids) assert.match(id, new RegExp(modelNamePattern, 'u'));
  });

  for (const { id, created_is, note, ...entry } of catalog.models) {
    test(`${id} is whole and sane`, () => {
      assert.equal(checkEntry(entry), null);
      const { display_name, owned_by, created, context_tokens = 0, max_input_tokens = 0, max_output_tokens = 0 } = entry;
      assert(display_name && owned_by && created);
      assert(['release', 'release-month', 'first-listed'].includes(created_is));
      assert(created <= catalog.as_of && created >= '2020-01-01', `created ${created}`);
      if (created_is === 'first-listed') assert.equal(created, catalog.as_of);
      assert(max_input_tokens > 0 && max_input_tokens <= context_tokens);
      assert(max_output_tokens > 0 && max_output_tokens <= context_tokens);
      assert.deepEqual(Object.keys(entry.supports ?? {}), ['thinking', 'streaming', 'vision', 'tools']);
      assert(note === undefined || note.length > 0);
    });

    test(`${id} runs at known providers for exact prices that are not free`, () => {
      assert(entry.routes && entry.routes.every(({ provider }) => isProviderName(provider)));
      const prices = pricesOf(entry).flatMap((price) => [price, ...(price.tiers ?? [])]);
      assert(prices.length > 0);
      for (const price of prices) checkPrices(price);
    });
  }
});

/** Cheaper to read than to write, more to answer than to ask: what would show swapped columns. */
function checkPrices(price: TokenPricesEntry): void {
  const { input, output, cache_read = input, cache_write = input, cache_write_1h = cache_write } = price;
  for (const value of [input, output, cache_read, cache_write, cache_write_1h]) {
    assert(value > 0 && Number(value.toFixed(6)) === value, String(value));
  }
  assert(output >= input && cache_read <= input && cache_write >= input && cache_write_1h >= cache_write, JSON.stringify(price));
}

test('all of them are loaded with a price today and without a warning', () => {
  const loaded = loadCatalog(
    loadConfig({ env: { TOLLGATE_DATA_DIR: tmpdir() }, cwd: join(import.meta.dirname, 'no-such-folder') }),
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

test('every chat model of the collected facts is there with its limits and prices', (t) => {
  const path = join(import.meta.dirname, '..', '..', '..', 'shared', 'facts', 'models.json');
  if (!existsSync(path)) {
    assert(!process.env['CI'], `${path} is missing`);
    t.diagnostic('skipped: ../shared/facts/models.json is not here');
    return;
  }
  const facts = (JSON.parse(readFileSync(path, 'utf8')) as { models: Fact[] }).models.filter(({ type }) => type === 'chat');
  assert.equal(facts.length, 97);
  assert.deepEqual(catalog.models.map(({ id }) => id).toSorted(), facts.map(({ id }) => id).toSorted());
  for (const fact of facts) compareWithFact(fact);
});

function compareWithFact(fact: Fact): void {
  const model = catalog.models.find(({ id }) => id === fact.id)!;
  const { thinking, streaming, vision, tools } = fact;
  assert.deepEqual(model.supports, { thinking, streaming, vision, tools }, fact.id);
  assert.deepEqual(
    [model.context_tokens, model.max_input_tokens, model.max_output_tokens],
    [fact.context, fact.max_input, fact.max_output],
    fact.id,
  );
  assert.deepEqual(
    model.routes?.map(({ provider, model: upstream }) => [provider, upstream]),
    [[fact.provider, fact.upstream_id]],
  );
  assert(
    fact.release_date === null ? model.created_is === 'first-listed' : model.created!.startsWith(fact.release_date),
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

/** A fact that is null or missing may be filled in by the catalogue, whose note then says how. */
function assertStates({ id }: Fact, price: TokenPricesEntry, fact: FactPrices): void {
  for (const bucket of ['input', 'output', 'cache_write', 'cache_read', 'cache_write_1h'] as const) {
    if (typeof fact[bucket] === 'number') assert.equal(price[bucket], fact[bucket], `${id} ${bucket}`);
  }
}
