// Recognizes repeated requests, so that each has one effect. At the admin API's door the request
// has an Idempotency-Key, under which its answer is kept for a day. At the dashboard's door it may
// have a `request_id` in its body. Of both follow the ids of what the request makes, which is made
// only once.
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { ApiError, idempotencyConflict } from '../canonical/errors.ts';
import type { Database } from '../db/database.ts';
import type { AuditedChanges } from '../domain/audit/audited-changes.ts';
import type { KeptAnswers } from '../domain/idempotency/kept-answers.ts';
import type { RequestName } from '../domain/idempotency/request-name.ts';
import type { LedgerId } from '../domain/ledger/commands.ts';
import type { ManagementContext } from './context.ts';

type OnceOptions = {
  readonly context: ManagementContext;
  readonly changes: AuditedChanges;
  /** null: the request has no Idempotency-Key. */
  readonly named: { readonly name: RequestName; readonly answers: KeptAnswers } | null;
  readonly body: unknown;
};

type RequestBody = { readonly request_id?: string };

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
    const { context, changes, named } = this.#options;
    return changes.together(async (grouped) => {
      const database = grouped.unrecorded;
      const earlier = await this.#claim(database);
      if (earlier !== null) return JSON.parse(earlier) as Answer;
      const answer = await work({ context: { ...context, database }, changes: grouped });
      await named?.answers.keep(database.write, named.name, JSON.stringify(answer));
      return answer;
    });
  }

  /** Returns an id for an account that the dashboard makes, as long as our random ids. */
  get accountId(): string | undefined {
    const { request_id: id } = this.#options.body as RequestBody;
    return id && `acc_${hash('sha256', `account ${id}`, 'hex').slice(0, 26)}`;
  }

  /**
   * Runs `work`, which books an entry of a ledger. The ledger books it once under `entryId`, even
   * if a crash follows before the answer is kept. Throws ApiError 422.
   */
  async withLedger<Answer>(
    ledgerId: LedgerId,
    work: (entryId: string) => Promise<Answer>,
  ): Promise<Answer> {
    const { changes, named } = this.#options;
    if (!named) return work(`adjust:${ledgerId}:${this.#requestId}`);
    const { name, answers } = named;
    const earlier = await this.#claim(changes.unrecorded);
    if (earlier !== null) return JSON.parse(earlier) as Answer;
    const { write } = changes.unrecorded;
    try {
      const entryKey = hash('sha256', `${name.keyId} ${name.keyDigest}`, 'base64url');
      const answer = await work(`admin:${ledgerId}:${entryKey}`);
      await answers.keep(write, name, JSON.stringify(answer));
      return answer;
    } catch (error) {
      // Nothing was booked. After any other error, the entry may be there.
      if (error instanceof ApiError && error.status < 500) await answers.release(write, name);
      throw error;
    }
  }

  /** The refusal of another request under the same key. `how`: in what the first one differs. */
  conflict(how: string): ApiError {
    if (this.#options.named) return idempotencyConflict();
    return new ApiError('conflict', `This request id was used before ${how}`);
  }

  get #requestId(): string {
    const { request_id: id } = this.#options.body as RequestBody;
    assert(id, 'the call must have an Idempotency-Key or a `request_id`');
    return id;
  }

  /** Returns the answer of an earlier request, as JSON; null when this one is to run. */
  async #claim({ write }: Pick<Database, 'write'>): Promise<string | null> {
    const { named, changes } = this.#options;
    if (!named) return null;
    const claimed = await named.answers.claim(write, named.name, changes.clock.nowMs());
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
