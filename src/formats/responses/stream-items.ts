// Tells the items of a stream apart by their ids. Some hosts give two items one index, or leave gaps,
// which their final response has not: github.com/theopenco/llmgateway/pull/2908,
// github.com/diegosouzapw/OmniRoute/pull/12445 (read 2026-12-01).
import { type JsonObject, objectOf } from '../../lib/json.ts';

/** `ids`: the item's own and its call's, as far as the stream names them. */
type Known<Item> = { readonly item: Item; readonly ids: Set<string>; isDone: boolean };

export class StreamItems<Item> {
  /** The first item that had the id. */
  readonly #withId = new Map<string, Known<Item>>();
  /** The last item that had the index. */
  readonly #atIndex = new Map<unknown, Known<Item>>();
  readonly #inOrder: Known<Item>[] = [];

  /** Returns the item that an event adds once more; null: it adds a new one, perhaps under an old id. */
  findAdded(payload: JsonObject): Item | null {
    const known = this.#atIndex.get(payload.output_index);
    const ids = idsOf(payload);
    if (!known || known.isDone || (known.ids.size > 0 && ids.length > 0 && !hasOne(known, ids)))
      return null;
    this.#name(known, ids);
    return known.item;
  }

  /** Returns the item of any other event; null: a new one. */
  find(payload: JsonObject): Item | null {
    return this.#find(payload)?.item ?? null;
  }

  /** Returns the items of the final response; null: a new one. Those without a known id stand in their order. */
  findFinal(output: readonly JsonObject[]): readonly (Item | null)[] {
    const ordered = output.length === this.#inOrder.length ? this.#inOrder : [];
    return output.map((payload, at) => this.#find(payload, ordered[at])?.item ?? null);
  }

  add(payload: JsonObject, item: Item): void {
    const known = { item, ids: new Set<string>(), isDone: false };
    this.#name(known, idsOf(payload));
    this.#atIndex.set(payload.output_index, known);
    this.#inOrder.push(known);
  }

  /** Call it with the event that ends an item, which `find` knows. */
  end(payload: JsonObject): void {
    const known = this.#find(payload);
    if (known) known.isDone = true;
  }

  #find(
    payload: JsonObject,
    placed = this.#atIndex.get(payload.output_index),
  ): Known<Item> | undefined {
    const ids = idsOf(payload);
    const isPlaced = placed && hasOne(placed, ids);
    const named = isPlaced ? undefined : ids.find((id) => this.#withId.has(id));
    return named === undefined ? placed : this.#withId.get(named);
  }

  #name(known: Known<Item>, ids: readonly string[]): void {
    for (const id of ids) {
      known.ids.add(id);
      if (!this.#withId.has(id)) this.#withId.set(id, known);
    }
  }
}

function idsOf({ item_id, item }: JsonObject): readonly string[] {
  const { id, call_id } = objectOf(item);
  return [item_id, id, call_id].filter(
    (value): value is string => typeof value === 'string' && value !== '',
  );
}

function hasOne({ ids }: Known<unknown>, wanted: readonly string[]): boolean {
  return wanted.some((id) => ids.has(id));
}
