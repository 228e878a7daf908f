// Which models of the catalogue are shown, and in what order. Pure.
import type { ChatModel, ImageModelEntry } from '../../../src/dashboard-contract/models.ts';

export const abilities = ['vision', 'thinking', 'tools', 'search'] as const;
export type Ability = (typeof abilities)[number];

export const orders = ['catalogue', 'price', 'price-down', 'context', 'newest'] as const;
export type Order = (typeof orders)[number];

export type ModelFilters = {
  /** Each of its words stands in the name, an id or the vendor. */
  readonly text: string;
  /** '': of anybody. */
  readonly vendor: string;
  /** All of them. */
  readonly abilities: readonly Ability[];
  /** At most so many microdollars for a million tokens of input; null: whatever it costs. */
  readonly inputMicrosMax: number | null;
  /** Only what a provider serves now. */
  readonly onlyLive: boolean;
};

type Named = Pick<ChatModel | ImageModelEntry, 'id' | 'name' | 'vendor' | 'aliases' | 'is_live'>;

export function matches({ text, vendor, onlyLive }: ModelFilters, model: Named): boolean {
  if (vendor !== '' && model.vendor !== vendor) return false;
  if (onlyLive && !model.is_live) return false;
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const searched = [model.id, model.name, model.vendor, ...model.aliases].join(' ').toLowerCase();
  return words.every((word) => searched.includes(word));
}

export function chatModelMatches(filters: ModelFilters, model: ChatModel): boolean {
  const { inputMicrosMax } = filters;
  if (!filters.abilities.every((ability) => hasAbility(model, ability))) return false;
  if (inputMicrosMax !== null && (!model.price || model.price.base.input_micros > inputMicrosMax)) return false;
  return matches(filters, model);
}

export function hasAbility({ abilities: known, web_search_micros: searchMicros }: ChatModel, ability: Ability): boolean {
  return ability === 'search' ? searchMicros !== null : known[ability];
}

/** Those without a price come last. */
export function inOrder(models: readonly ChatModel[], order: Order): readonly ChatModel[] {
  const price = ({ price: known }: ChatModel) => (known ? known.base.input_micros + known.base.output_micros : Infinity);
  switch (order) {
    case 'catalogue':
      return models;
    case 'price':
      return models.toSorted((one, other) => compare(price(one), price(other)));
    case 'price-down':
      return models.toSorted((one, other) => compare(finite(price(other)), finite(price(one))));
    case 'context':
      return models.toSorted((one, other) => other.context_tokens - one.context_tokens);
    case 'newest':
      return models.toSorted((one, other) => compare(other.created_at, one.created_at));
  }
}

/** Descending, what has no price is still last. */
function finite(value: number): number {
  return Number.isFinite(value) ? value : -1;
}

function compare<Value extends string | number>(one: Value, other: Value): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** `Anthropic`; a vendor that is not known here is shown as it is written. */
export function vendorName(vendor: string): string {
  return vendorNames[vendor] ?? vendor;
}

const vendorNames: Readonly<Record<string, string>> = {
  alibaba: 'Alibaba',
  amazon: 'Amazon',
  anthropic: 'Anthropic',
  'black-forest-labs': 'Black Forest Labs',
  cohere: 'Cohere',
  deepseek: 'DeepSeek',
  google: 'Google',
  meta: 'Meta',
  minimax: 'MiniMax',
  mistral: 'Mistral',
  moonshotai: 'Moonshot AI',
  openai: 'OpenAI',
  xai: 'xAI',
  zai: 'Z.ai',
};
