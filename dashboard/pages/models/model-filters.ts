// Filters and orders the models of the catalogue. Pure functions.
import type { AnyModel, ChatModel } from '../../../src/management/contract/models.ts';

export const abilities = ['vision', 'audio', 'thinking', 'tools', 'search'] as const;
export type Ability = (typeof abilities)[number];

export const orders = ['catalogue', 'price', 'price-down', 'context', 'newest'] as const;
export type Order = (typeof orders)[number];

export type ModelFilters = {
  /** Matches models whose name, ids or vendor contain every word. */
  readonly text: string;
  /** Empty matches every vendor. */
  readonly vendor: string;
  /** A model must have all of them. */
  readonly abilities: readonly Ability[];
  /** Maximum price in microdollars per million input tokens; null for no maximum. */
  readonly inputMicrosMax: number | null;
  /** Only models that a provider serves now. */
  readonly onlyLive: boolean;
};

/** The page's state in the address: filters, order, tab and the open model. */
export type View = ModelFilters & {
  readonly order: Order;
  readonly tab: 'chat' | 'images' | 'others';
  readonly open: string | null;
  /** Ids of the models that are selected for the comparison. */
  readonly compared: readonly string[];
  readonly isComparing: boolean;
};

type Named = Pick<AnyModel, 'id' | 'name' | 'vendor' | 'aliases' | 'is_live'>;

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
  if (inputMicrosMax !== null && (!model.price || model.price.base.input_micros > inputMicrosMax))
    return false;
  return matches(filters, model);
}

export function hasAbility(
  { abilities: known, web_search_micros: searchMicros }: ChatModel,
  ability: Ability,
): boolean {
  return ability === 'search' ? searchMicros !== null : known[ability];
}

/** Models without a price come last. */
export function inOrder(models: readonly ChatModel[], order: Order): readonly ChatModel[] {
  const price = ({ price: known }: ChatModel) =>
    known ? known.base.input_micros + known.base.output_micros : Infinity;
  switch (order) {
    case 'catalogue':
      return models;
    case 'price':
      return models.toSorted((one, other) => compare(price(one), price(other)));
    case 'price-down':
      return models.toSorted((one, other) =>
        compare(missingLast(price(other)), missingLast(price(one))),
      );
    case 'context':
      return models.toSorted((one, other) => other.context_tokens - one.context_tokens);
    case 'newest':
      return models.toSorted((one, other) => compare(other.created_at, one.created_at));
  }
}

/** Puts models without a price last in descending order too. */
function missingLast(value: number): number {
  return Number.isFinite(value) ? value : -1;
}

function compare<Value extends string | number>(one: Value, other: Value): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
