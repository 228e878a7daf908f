import type { Database } from '../db/database.ts';
import { removeExpired } from './cached-rows.ts';
import type { HotResponses } from './hot-responses.ts';

export class Upkeep {
  readonly #options: { readonly database: Database; readonly diskBytes: number; readonly hot: HotResponses };
  constructor(options: { readonly database: Database; readonly diskBytes: number; readonly hot: HotResponses }) {
    this.#options = options;
  }

  async run(nowMs: number): Promise<void> {
    this.#options.hot.removeExpired();
    await removeExpired(this.#options.database, nowMs);
  }
}
