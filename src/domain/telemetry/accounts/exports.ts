// The export of accounts' own traces in one HTTP thread. Each account has a queue with a limit, and
// all together have one. Settings are read anew for each batch: one that was written under earlier
// settings is dropped, so nothing goes to an address or under a consent that was withdrawn.
import type { Database } from '../../../db/database.ts';
import type { AccountExport } from '../../../events/request-spans.ts';
import { type Clock, timeLimit } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/log.ts';
import type { PublicHosts } from '../../../lib/public-hosts.ts';
import type { Secrets } from '../../../lib/secrets.ts';
import type { FinishedRequest } from '../finished-request.ts';
import { JsonBytes } from '../json-bytes.ts';
import { type Posted, postOnce } from '../post.ts';
import { SendQueue } from '../queue.ts';
import { Room } from '../../../lib/room.ts';
import { wrapSpans } from '../wrap-spans.ts';
import { writeSpans } from '../write-spans.ts';
import { addResults, type NewResults } from './results.ts';
import { readTarget, type ExportTarget } from './settings.ts';
import { withCheckedClient } from '../../../lib/checked-client.ts';
import type { OpenConnector } from '../../../lib/checked-connector.ts';
import { tracesUrlOf } from './address.ts';

/** Each batch has a connection of its own, so they are rarer than the operator's. */
const sendEveryMs = 2_000;
const accountBytesMax = 4 * 1024 * 1024;
const allBytesMax = 32 * 1024 * 1024;
/** A stop does not wait longer for receivers that do not answer. */
const closeMs = 2_000;
const noResults: NewResults = { sent: 0, dropped: 0, succeededAtMs: null, problem: null };

export type ExportParts = {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly hosts: PublicHosts;
  readonly log: Logger;
  readonly clock: Clock;
};

type Open = { readonly version: number; readonly queue: SendQueue; counted: Counted };
type Counted = { readonly sent: number; readonly dropped: number };

export class AccountExports {
  /** Spans of all accounts since the start. */
  readonly total = { sent: 0, dropped: 0 };
  readonly hosts: PublicHosts;
  readonly #parts: ExportParts;
  readonly #send: AccountSender;
  readonly #queues = new Map<string, Open>();
  readonly #room = new Room(allBytesMax);
  readonly #json = new JsonBytes();

  constructor(parts: ExportParts) {
    this.#parts = parts;
    this.hosts = parts.hosts;
    this.#send = accountSender(parts);
  }

  add(account: AccountExport, request: FinishedRequest, originMs: number): void {
    const { queue, version } = this.#queueOf(account);
    const spans = 1 + request.spans.steps.length;
    // The request began before the settings were changed.
    if (version !== account.version) return void (queue.dropped += spans);
    this.#json.clear();
    writeSpans(this.#json, request, { audience: 'account', originMs });
    queue.add(this.#json.written(), spans);
  }

  /** Sends what waits, unless that takes long. */
  async close(): Promise<void> {
    const queues = [...this.#queues.values()].map(({ queue }) => queue);
    const sending = Promise.all(queues.map((queue) => queue.close()));
    await Promise.race([sending, timeLimit(this.#parts.clock, closeMs)]);
    for (const queue of queues) queue.abandon();
    await Promise.all(
      [...this.#queues.keys()].map((accountId) => this.#note(accountId, noResults)),
    );
  }

  #queueOf({ accountId, version }: AccountExport): Open {
    const open = this.#queues.get(accountId);
    if (open && open.version >= version) return open;
    open?.queue.abandon();
    if (open) void this.#note(accountId, noResults);
    const queue = new SendQueue({
      post: (body) => this.#post(accountId, version, body),
      wrapping,
      room: new Room(accountBytesMax, this.#room),
      onResult: (problem) => void this.#noteResult(accountId, problem),
      sendEveryMs,
      clock: this.#parts.clock,
    });
    const opened = { version, queue, counted: { sent: 0, dropped: 0 } };
    this.#queues.set(accountId, opened);
    return opened;
  }

  async #post(accountId: string, version: number, body: string | Uint8Array): Promise<Posted> {
    const { database, secrets, log } = this.#parts;
    try {
      const target = await readTarget(database.read, secrets, accountId);
      if (target?.version === version) return await this.#send(target, body);
      return { kind: 'refused', problem: 'its settings were changed' };
    } catch (err) {
      log.warn({ err, account_id: accountId }, "an account's traces cannot be exported");
      return { kind: 'later', problem: 'its headers cannot be read', waitMs: null };
    }
  }

  #noteResult(accountId: string, problem: string | null): Promise<void> {
    const atMs = this.#parts.clock.nowMs();
    return this.#note(
      accountId,
      problem === null
        ? { ...noResults, succeededAtMs: atMs }
        : { ...noResults, problem: { text: problem, atMs } },
    );
  }

  /** Adds what was counted since the last time. */
  async #note(accountId: string, results: NewResults): Promise<void> {
    const open = this.#queues.get(accountId)!;
    const { sent, dropped } = open.queue;
    const more = { sent: sent - open.counted.sent, dropped: dropped - open.counted.dropped };
    open.counted = { sent, dropped };
    this.total.sent += more.sent;
    this.total.dropped += more.dropped;
    const { database, log } = this.#parts;
    await addResults(database.transient, accountId, { ...results, ...more }).catch((err: unknown) =>
      log.warn({ err, account_id: accountId }, 'the result of an export cannot be stored'),
    );
  }
}

/** Nothing of the operator's. */
const wrapping = wrapSpans({ 'service.name': 'tollgate' });

type AccountSender = (
  target: Pick<ExportTarget, 'endpoint' | 'headers'>,
  body: string | Uint8Array,
) => Promise<Posted>;

type SenderOptions = {
  readonly hosts: PublicHosts;
  readonly openConnector?: OpenConnector;
  readonly clock: Clock;
};

/**
 * The address is checked before each connection, which goes to a checked address. Problems are
 * shown to the account, so they say nothing about the operator's network.
 */
export function accountSender({ hosts, openConnector, clock }: SenderOptions): AccountSender {
  return ({ endpoint, headers }, body) => {
    const url = tracesUrlOf(endpoint);
    return postOnce({ url, headers, body, clock }, async (post, signal) => {
      const posted = await withCheckedClient(url, { hosts, openConnector, signal }, post);
      return posted ?? { kind: 'later', problem: 'it has no public address', waitMs: null };
    });
  };
}
