// The documentation's tables of models with their prices in force, as HTML and as Markdown.
import type { ModelInfoList } from '../domain/catalog/listing.ts';
import { escapeHtml } from '../lib/escape-html.ts';

type Info = ModelInfoList['data'][number];
type ImageInfo = Extract<Info, { readonly type: 'image' }>;
type TokenInfo = Exclude<Info, ImageInfo>;

/** `endOf` returns `until 2026-12-01` or `ended on 2026-12-01`; undefined: no end is announced. */
type Prices = ModelInfoList & { readonly endOf: (id: string) => string | undefined };
type Row = readonly string[];

const none = 'No model can be run yet.';

export function htmlTables(prices: Prices): string {
  const tables = tablesOf(prices).map(([columns, ...rows]) => {
    const cell = (text: string, at: number) => `<td data-label="${columns[at]}">${text}</td>`;
    const cells = ([id, ...others]: Row) =>
      [`<code>${escapeHtml(id!)}</code>`, ...others.map(escapeHtml)].map(cell);
    const body = rows.map((row) => `<tr>${cells(row).join('')}</tr>`);
    const head = columns.map((column) => `<th scope="col">${column}</th>`);
    return `<table class="middle models"><thead><tr>${head.join('')}</tr></thead><tbody>${body.join('\n')}</tbody></table>`;
  });
  return tables.join('\n') || `<p>${none}</p>`;
}

export function markdownTables(prices: Prices): string {
  const line = (cells: Row) => `| ${cells.join(' | ')} |`;
  const tables = tablesOf(prices).map(([columns, ...rows]) =>
    [columns, columns.map(() => '---'), ...rows].map(line).join('\n'),
  );
  return tables.join('\n\n') || none;
}

/** Each begins with its columns. A row's first cell is an id. */
function tablesOf({ data, web_search: search, endOf }: Prices): (readonly [Row, ...Row[]])[] {
  const isImage = (entry: Info): entry is ImageInfo => entry.type === 'image';
  const isPricedByTokens = (entry: Info): entry is TokenInfo => !isImage(entry);
  const [chat, others] = [true, false].map((isChat) =>
    data.filter(isPricedByTokens).filter(({ type }) => (type === undefined) === isChat),
  ) as [TokenInfo[], TokenInfo[]];
  const row = ({ id }: Info, prices: Row, notes: Row): Row => {
    const end = endOf(id);
    const all = [...notes, end ?? ''];
    return [id, ...prices, all.filter((note) => note !== '').join('; ')];
  };
  const chatRows = chat.map((entry) => {
    const { input_price_per_1m: input, output_price_per_1m: output } = entry;
    const prices = [input, output, entry.cache_read_price_per_1m].map(usd);
    return row(entry, [...prices, count(entry.context_window)], notesOn(entry));
  });
  const otherRows = others.map((entry) =>
    row(
      entry,
      [entry.type!, otherPriceOf(entry), count(entry.max_prompt_tokens)],
      [entry.output_price_per_1m > 0 ? `output ${usd(entry.output_price_per_1m)}` : ''],
    ),
  );
  const images = data.filter(isImage).map((entry) => {
    const { output, per_megapixel: isMegapixel } = entry.image_prices;
    return row(entry, [byTier(output, isMegapixel)], imageNotesOn(entry));
  });
  const searches = search
    ? [[search.id, usd(search.price_per_search), usd(search.price_per_search_max)]]
    : [];
  const tables: [Row, ...Row[]][] = [
    [['Model', 'Input', 'Output', 'Cached input', 'Context', 'Notes'], ...chatRows],
    [['Other model', 'Type', 'Price', 'Longest input', 'Notes'], ...otherRows],
    [['Image model', 'An image', 'Notes'], ...images],
    [['Search', 'A search', 'Most for a search'], ...searches],
  ];
  return tables.filter(({ length }) => length > 1);
}

type Pair = Pick<TokenInfo, 'input_price_per_1m' | 'output_price_per_1m'>;

function notesOn(entry: TokenInfo): Row {
  const pair = (one: Pair) => `${usd(one.input_price_per_1m)} and ${usd(one.output_price_per_1m)}`;
  return [
    entry.supports_vision ? 'reads images' : '',
    entry.supports_audio ? `hears${audioPriceOf(entry)}` : '',
    entry.supports_thinking ? 'thinks' : '',
    ...entry.price_tiers.map((one) => `above ${count(one.above_input_tokens)} tokens ${pair(one)}`),
    ...entry.price_variants.map((one) =>
      [one.service_tier, one.hours_utc, pair(one)].filter(Boolean).join(' '),
    ),
    ...entry.scheduled_prices.map((one) => `from ${one.effective_from.slice(0, 10)} ${pair(one)}`),
    ...Object.entries(entry.search_prices).map(
      ([tool, price]) => `${tool.replaceAll('_', ' ')} ${usd(price)}`,
    ),
  ];
}

/** Left out: as other input. */
function audioPriceOf({ audio_price_per_1m: price }: TokenInfo): string {
  return price === undefined ? '' : `, sound ${usd(price)}`;
}

/** Of what the model sells; a million input tokens if nothing else is said. */
function otherPriceOf({
  price_per_1m_characters: characters,
  price_per_search_unit: searchUnit,
  price_per_minute: minute,
  input_price_per_1m: input,
}: TokenInfo): string {
  if (characters !== undefined) return `${usd(characters)} a million characters`;
  if (minute !== undefined) return `${usd(minute)} a minute`;
  return searchUnit === undefined ? usd(input) : `${usd(searchUnit)} a search unit`;
}

function imageNotesOn({ mode, image_prices: { tokens, ...prices } }: ImageInfo): Row {
  const input = byTier(prices.input_image, prices.input_per_megapixel);
  const parts = Object.entries(tokens ?? {}).map(([part, price]) => `${part} ${usd(price)}`);
  return [
    mode,
    input && `an input image ${input}`,
    tokens ? `by tokens: ${parts.join(', ').replaceAll('_', ' ')}` : '',
  ];
}

/** Example: `low $0.01, high $0.04`. */
function byTier(prices: Readonly<Record<string, number>>, isMegapixel: boolean): string {
  const unit = isMegapixel ? ' a megapixel' : '';
  const isOne = new Set(Object.values(prices)).size === 1;
  const shown = Object.entries(prices).slice(0, isOne ? 1 : undefined);
  return shown.map(([tier, price]) => (isOne ? '' : `${tier} `) + usd(price) + unit).join(', ');
}

const dollars = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  maximumFractionDigits: 6,
});
const usd = (amount: number) => dollars.format(amount);
const numbers = new Intl.NumberFormat('en-US');
const count = (tokens: number) => numbers.format(tokens);
