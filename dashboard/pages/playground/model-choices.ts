// The models that a key may try. Pure.
import type { ChatModel, ImageModelEntry } from '../../../src/dashboard-contract/models.ts';
import type { Key } from '../../parts/key-select.tsx';

type AnyModel = Pick<ChatModel | ImageModelEntry, 'id' | 'is_live' | 'price'>;
type KeyOf = Pick<Key, 'mode' | 'models'>;

export function chatChoices(models: readonly ChatModel[], key: KeyOf): readonly ChatModel[] {
  return models.filter((model) => isUsable(model, key));
}

export function imageChoices(models: readonly ImageModelEntry[], key: KeyOf): readonly ImageModelEntry[] {
  return models.filter((model) => isUsable(model, key));
}

type Named = Pick<ChatModel, 'id' | 'aliases'>;

/** The one that was asked for, by its id or an alias; null: the key may not try it. */
export function findModel<Model extends Named>(choices: readonly Model[], asked: string | null): Model | null {
  return choices.find(({ id, aliases }) => id === asked || (asked !== null && aliases.includes(asked))) ?? null;
}

const modestOutputMicros = 5_000_000;

/** Where nothing was asked for: the first that is not dear, for who only looks around. null: there is none. */
export function firstToTry(choices: readonly ChatModel[]): ChatModel | null {
  return choices.find(({ price }) => price!.base.output_micros <= modestOutputMicros) ?? choices[0] ?? null;
}

/** It has a price, the key's list has it, and something serves it: of test keys the sandbox, whatever it is. */
function isUsable({ id, price, is_live: isLive }: AnyModel, { mode, models }: KeyOf): boolean {
  return price !== null && (mode === 'test' || isLive) && (models === null || models.includes(id));
}
