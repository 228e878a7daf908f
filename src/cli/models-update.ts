// `tollgate models update`: compares the built-in catalogue with another price list. Changes
// nothing.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readBuiltInCatalog } from '../domain/catalog/load-catalog.ts';
import { compareWithSource, type Comparison } from '../domain/catalog/price-sources/compare.ts';
import { genaiPricesFrom, readGenaiPrices } from '../domain/catalog/price-sources/genai-prices.ts';
import { readLitellm } from '../domain/catalog/price-sources/litellm.ts';
import type { PriceSource } from '../domain/catalog/price-sources/source.ts';
import { systemClock } from '../lib/clock.ts';
import { isObject, parseJson } from '../lib/json.ts';
import { dayOf } from '../lib/utc-time.ts';
import { CommandFailed, type Output, tableOf } from './output.ts';

const fileBytesMax = 64 * 1024 * 1024;
const packageName = /^(?:@[a-z0-9~_-][a-z0-9._~-]*\/)?[a-z0-9~_-][a-z0-9._~-]*$/;
/** The files that packages keep their lists in, beside package.json. */
const listFiles = [
  'model_prices_and_context_window.json',
  'model_prices_and_context_window_backup.json',
  'data.json',
];
const notAPriceList =
  "is neither LiteLLM's model_prices_and_context_window list nor that of genai-prices";

export async function updateModelsCommand({ from }: { readonly from: string }): Promise<Output> {
  const nowMs = systemClock.nowMs();
  const source = isFile(from) ? readFile(from, nowMs) : await readPackage(from, nowMs);
  const { as_of: asOf, models } = readBuiltInCatalog();
  const comparison = compareWithSource(models, source, { nowMs });
  const date = dayOf(nowMs);
  return [
    { date, catalogue_date: asOf, source: source.name, ...comparison },
    describeComparison(comparison, { asOf, source }),
  ];
}

function describeComparison(
  { agree, absent, proposals }: Comparison,
  { asOf, source }: { asOf: string; source: PriceSource },
): string {
  const table = tableOf(proposals, {
    DATE: ({ date }) => date,
    MODEL: ({ model }) => model,
    FIELD: ({ field }) => field,
    OURS: ({ ours }) => String(ours ?? 'none'),
    THEIRS: ({ theirs }) => String(theirs ?? 'none'),
    SOURCE: ({ source: name }) => name,
  });
  const summary = `Compared the catalogue of ${asOf} with ${source.name}: ${agree.length} models have the same prices, ${absent.length} are missing there, and ${proposals.length} fields differ. Nothing was changed.`;
  return proposals.length === 0 ? summary : `${table}\n\n${summary}`;
}

function isFile(path: string): boolean {
  return existsSync(path) && statSync(path).isFile();
}

function readFile(path: string, nowMs: number): PriceSource {
  if (statSync(path).size > fileBytesMax)
    throw new CommandFailed(`${path} is larger than ${fileBytesMax / 1024 / 1024} MB`);
  const parsed = parseJson(readFileSync(path));
  const list = parsed.ok ? parsed.value : null;
  const source = readLitellm(list) ?? readGenaiPrices(list, { nowMs });
  if (!source) throw new CommandFailed(`${path} ${notAPriceList}`);
  return source;
}

async function readPackage(name: string, nowMs: number): Promise<PriceSource> {
  const isName = packageName.test(name) && !name.endsWith('.json');
  const folder = isName ? findPackage(name) : null;
  if (folder === null) {
    throw new CommandFailed(
      `there is no file "${name}", and no package of that name is installed here; "npm install ${isName ? name : '@pydantic/genai-prices'}" in this folder installs one`,
    );
  }
  const file = listFiles.map((each) => join(folder, each)).find(isFile);
  if (file !== undefined) return readFile(file, nowMs);
  const findProvider = await importFindProvider(name);
  if (!findProvider) throw new CommandFailed(`the package ${name} ${notAPriceList}`);
  return genaiPricesFrom((providerId) => findProvider({ providerId }), { nowMs });
}

/** Looks in the `node_modules` of the current folder and of each folder above it, as Node does. */
function findPackage(name: string): string | null {
  for (let folder = process.cwd(); ; folder = dirname(folder)) {
    const found = join(folder, 'node_modules', name);
    if (isFile(join(found, 'package.json'))) return found;
    if (folder === dirname(folder)) return null;
  }
}

/**
 * genai-prices has its list in its code and exports a lookup by provider. Returns null when the
 * package does not load or exports no such function.
 */
async function importFindProvider(
  name: string,
): Promise<((query: { providerId: string }) => unknown) | null> {
  try {
    const path = createRequire(resolve('package.json')).resolve(name);
    const loaded: unknown = await import(pathToFileURL(path).href);
    const exported =
      isObject(loaded) && isObject(loaded['default'])
        ? { ...loaded['default'], ...loaded }
        : loaded;
    const find = isObject(exported) ? exported['findProvider'] : null;
    return typeof find === 'function' ? (find as (query: { providerId: string }) => unknown) : null;
  } catch {
    return null;
  }
}
