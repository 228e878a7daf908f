// Groups the lines of a batch that go to a provider's batch API: by route, because OpenAI wants one
// model in a batch, and far below the providers' limits, so that little is done again after a kill.
import type { NewSentBatch } from '../../domain/batches/sent-batches.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import type { BatchRoute } from '../request.ts';

/** The lines of a batch at a provider, and the bytes of their requests. */
const linesMax = 10_000;
const bytesMax = 48 * 1024 * 1024;

type Group = { readonly id: string; lines: number; bytes: number };

export class SentGroups {
  readonly #batch: { readonly id: string; readonly nowMs: number };
  readonly #open = new Map<string, Group>();
  #new: NewSentBatch[] = [];

  constructor(batch: { readonly id: string; readonly nowMs: number }) {
    this.#batch = batch;
  }

  /** Returns the id of the line's group. */
  groupFor({ provider, upstreamModel: model, format }: BatchRoute, bytes: number): string {
    const route = JSON.stringify([provider, model, format]);
    let group = this.#open.get(route);
    if (!group || group.lines === linesMax || group.bytes + bytes > bytesMax) {
      const { id: batchId, nowMs } = this.#batch;
      group = { id: newIdWithPrefix('sent'), lines: 0, bytes: 0 };
      this.#open.set(route, group);
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
    return group.id;
  }

  /** Returns the rows of the groups since the last call. */
  takeNew(): readonly NewSentBatch[] {
    const rows = this.#new;
    this.#new = [];
    return rows;
  }
}
