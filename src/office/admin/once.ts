// Runs a request once under its Idempotency-Key.
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { ApiError, idempotencyConflict } from '../../canonical/errors.ts';
import type { DashboardContext } from '../context.ts';
import type { AuditedChanges } from '../../domain/audit/audited-changes.ts';
import type { KeptAnswers } from '../../domain/idempotency/kept-answers.ts';
import type { RequestName } from '../../domain/idempotency/request-name.ts';

type OnceOptions = {
  readonly context: DashboardContext;
  readonly changes: AuditedChanges;
  readonly answers: KeptAnswers;
  /** null: the request has no Idempotency-Key. */
  readonly name: RequestName | null;
};

/** Reads and changes in one transaction. */
type Scope = Pick<OnceOptions, 'context' | 'changes'>;

export class Once {
  readonly #options: OnceOptions;
  #isRepeated = false;

  constructor(options: OnceOptions) {
    this.#options = options;
  }

  /** True when the answer is that of an earlier request. */
  get isRepeated(): boolean {
    return this.#isRepeated;
  }

  /**
   * Runs `work` and keeps its answer in one transaction. `work` must wait for nothing but the
   * database that it receives. Throws ApiError 422.
   */
  inTransaction<Answer>(work: (scope: Scope) => Promise<Answer>): Promise<Answer> {
    const { context, changes, answers, name } = this.#options;
    return changes.together(async (grouped) => {
      const { database } = grouped;
      const run = () => work({ context: { ...context, database }, changes: grouped });
      if (name === null) return run();
      const earlier = await this.#claim(database, name);
      if (earlier !== null) return JSON.parse(earlier) as Answer;
      const answer = await run();
      await answers.keep(database.write, name, JSON.stringify(answer));
      return answer;
    });
  }

  /** Replaces the kept answer of this request. Does nothing without an Idempotency-Key. */
  async keepInstead(answer: object): Promise<void> {
    const { changes, answers, name } = this.#options;
    if (name) await answers.keep(changes.database.write, name, JSON.stringify(answer));
  }

  /**
   * Runs `work`, which books an entry of the ledger. The ledger books it once under `entryKey`,
   * even if a crash follows before the answer is kept. Throws ApiError 422.
   */
  async withLedger<Answer>(work: (entryKey: string) => Promise<Answer>): Promise<Answer> {
    const { changes, answers, name } = this.#options;
    assert(name, 'the endpoint must require an Idempotency-Key');
    const earlier = await this.#claim(changes.database, name);
    if (earlier !== null) return JSON.parse(earlier) as Answer;
    const { write } = changes.database;
    try {
      const answer = await work(hash('sha256', `${name.keyId} ${name.keyDigest}`, 'base64url'));
      await answers.keep(write, name, JSON.stringify(answer));
      return answer;
    } catch (error) {
      // Nothing was booked. After any other error, the entry may be there.
      if (error instanceof ApiError && error.status < 500) await answers.release(write, name);
      throw error;
    }
  }

  /** Returns the answer of an earlier request, as JSON; null when this one is to run. */
  async #claim({ write }: DashboardContext['database'], name: RequestName): Promise<string | null> {
    const { answers, changes } = this.#options;
    const claimed = await answers.claim(write, name, changes.clock.nowMs());
    switch (claimed.kind) {
      case 'open':
        return null;
      case 'kept':
        this.#isRepeated = true;
        return claimed.answer;
      case 'conflict':
        throw idempotencyConflict();
      case 'unreadable':
        throw new ApiError(
          'idempotency_body_not_retained',
          'The request with this Idempotency-Key succeeded, but its answer can no longer be read.',
        );
    }
  }
}
