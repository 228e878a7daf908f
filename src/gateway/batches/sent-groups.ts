// Groups the lines of a batch that go to a provider's batch API: by route, because OpenAI wants one
// model in a batch, and far below the providers' limits, so that little is done again after a kill.
import type { NewSentBatch } from '../../domain/batches/sent-batches.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import type { PassedTo } from './line.ts';

/** The lines of a batch at a provider, and the bytes of their requests. */
const usualMax = { lines: 10_000, bytes: 48 * 1024 * 1024, inputs: Infinity };

type Group = { readonly id: string; lines: number; bytes: number; inputs: number };

export class SentGroups {
  readonly #batch: { readonly id: string; readonly nowMs: number };
  readonly #open = new Map<string, Group>();
  #new: NewSentBatch[] = [];

  constructor(batch: { readonly id: string; readonly nowMs: number }) {
    this.#batch = batch;
  }

  /** Returns the id of the line's group. */
  groupFor({ route, batchModel, max: ofHost, inputs }: PassedTo, bytes: number): string {
    const { provider, upstreamModel: model, format } = route;
    const max = { ...usualMax, ...ofHost };
    const name = JSON.stringify([provider, model, format, batchModel]);
    let group = this.#open.get(name);
    const isFull =
      group &&
      (group.lines === max.lines ||
        group.bytes + bytes > max.bytes ||
        group.inputs + inputs > max.inputs);
    if (!group || isFull) {
      const { id: batchId, nowMs } = this.#batch;
      group = { id: newIdWithPrefix('sent'), lines: 0, bytes: 0, inputs: 0 };
      this.#open.set(name, group);
      this.#new.push({
        id: group.id,
        batch_id: batchId,
        provider,
        model,
        format,
        state: 'waiting',
        created_at_ms: nowMs,
        due_at_ms: nowMs,
      });
    }
    group.lines += 1;
    group.bytes += bytes;
    group.inputs += inputs;
    return group.id;
  }

  /** Returns the rows of the groups since the last call. */
  takeNew(): readonly NewSentBatch[] {
    const rows = this.#new;
    this.#new = [];
    return rows;
  }
}
