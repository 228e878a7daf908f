// The models that a key may use; those whose end is announced come last. Pure functions.
import type {
  AnyModel,
  ChatModel,
  ImageModelEntry,
  OtherModel,
} from '../../../src/management/contract/models.ts';
import type { Key } from '../../parts/key-select.tsx';
import { lastingFirst } from '../../parts/model-text.ts';

type Usable = Pick<AnyModel, 'id' | 'is_live' | 'price' | 'retires_at'>;
type KeyOf = Pick<Key, 'mode' | 'models'>;

export function chatChoices(models: readonly ChatModel[], key: KeyOf): readonly ChatModel[] {
  return usable(models, key);
}

export function imageChoices(
  models: readonly ImageModelEntry[],
  key: KeyOf,
): readonly ImageModelEntry[] {
  return usable(models, key);
}

export function otherChoices(models: readonly OtherModel[], key: KeyOf): readonly OtherModel[] {
  return usable(models, key);
}

function usable<Model extends Usable>(models: readonly Model[], key: KeyOf): readonly Model[] {
  return models.filter((model) => isUsable(model, key)).toSorted(lastingFirst);
}

type Named = Pick<ChatModel, 'id' | 'aliases'>;

/** Finds a model by its id or an alias. Returns null when the key may not use it. */
export function findModel<Model extends Named>(
  choices: readonly Model[],
  requestedId: string | null,
): Model | null {
  return (
    choices.find(
      ({ id, aliases }) =>
        id === requestedId || (requestedId !== null && aliases.includes(requestedId)),
    ) ?? null
  );
}

/** Returns the models with these ids that the key may use, else the default model. */
export function chosenModels(
  choices: readonly ChatModel[],
  requestedIds: readonly string[],
): readonly ChatModel[] {
  const found = requestedIds.flatMap((id) => findModel(choices, id) ?? []);
  if (found.length > 0) return found;
  const usual = defaultModel(choices);
  return usual ? [usual] : [];
}

/** Returns a model to compare with, affordable and of another vendor if there is one. */
export function nextModel(
  choices: readonly ChatModel[],
  chosen: readonly ChatModel[],
): ChatModel | null {
  const others = choices.filter((choice) => !chosen.includes(choice));
  const vendors = chosen.map(({ vendor }) => vendor);
  return (
    others.find((model) => isAffordable(model) && !vendors.includes(model.vendor)) ??
    defaultModel(others)
  );
}

const affordableOutputMicros = 5_000_000;

function isAffordable({ price }: ChatModel): boolean {
  return price !== null && price.base.output_micros <= affordableOutputMicros;
}

/** Returns the first affordable model, else the first model; null when there is none. */
function defaultModel(choices: readonly ChatModel[]): ChatModel | null {
  return choices.find(isAffordable) ?? choices[0] ?? null;
}

/**
 * A usable model has a price, is allowed for the key, and is live. Test keys can use every model.
 */
function isUsable({ id, price, is_live: isLive }: Usable, { mode, models }: KeyOf): boolean {
  return price !== null && (mode === 'test' || isLive) && (models === null || models.includes(id));
}
