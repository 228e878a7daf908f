// The alerts of one HTTP thread: writes what happened into the outbox. In one thread of the process it
// also looks for what the books show, and delivers.
import type { Config } from '../../config/schema.ts';
import type { Database } from '../../db/database.ts';
import type { Db } from '../../db/schema.ts';
import { Channels, type SendEventMail } from '../../domain/alerts/channels.ts';
import { Deliverer } from '../../domain/alerts/deliverer.ts';
import { ownersAddress } from '../../domain/alerts/endpoints.ts';
import { removeOldEvents, writeEvent, writeNewEvents } from '../../domain/alerts/outbox.ts';
import { tellAnomalies, tellCaps } from '../../domain/alerts/spending.ts';
import { tellLowBalances } from '../../domain/alerts/thresholds.ts';
import { recordBooking } from '../../domain/audit/audit-log.ts';
import type { RecordBooking } from '../../domain/billing/payments.ts';
import type { Mailer } from '../../domain/users/mail.ts';
import { listMembers } from '../../domain/users/members.ts';
import type { RequestEvent } from '../../events/request-events.ts';
import type { RequestListener } from '../../events/request-listener.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import type { CancelTimer, Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import type { Secrets } from '../../lib/secrets.ts';
import { hourMs } from '../../lib/utc-time.ts';
import { autoTopUpNotes } from './auto-top-up-notes.ts';
import { watchBooks } from './books-watch.ts';
import { tellLosses, tellOfService, watchRoutes } from './operators-looks.ts';
import { noteRefused } from '../../domain/keys/own-keys.ts';

type AlertsInput = {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly config: Config;
  readonly gateway: Gateway;
  readonly users: { readonly mailer: Mailer | null };
  readonly publicUrl: () => string;
  readonly log: Logger;
  readonly clock: Clock;
};

const paymentEvents = {
  payment: 'payment.received',
  refund: 'payment.refunded',
  dispute: 'payment.disputed',
} as const;

export class Alerts implements RequestListener {
  readonly channels: Channels;
  readonly #input: AlertsInput;
  readonly #deliverer: Deliverer;
  readonly #running = new Map<string, Promise<void>>();
  readonly #watchRoutes = watchRoutes();
  readonly #watchBooks: ReturnType<typeof watchBooks>;
  #timers: readonly CancelTimer[] = [];

  constructor(input: AlertsInput) {
    const { database, config, users, publicUrl, clock } = input;
    this.#input = input;
    this.channels = new Channels({
      allowedHosts: config.alerts.allowed_hosts,
      sendMail: users.mailer && mailFrom(database.read, users.mailer),
      publicUrl,
      clock,
    });
    this.#deliverer = new Deliverer({ ...input, channels: this.channels });
    this.#watchBooks = watchBooks({ ...input, channels: this.channels });
  }

  start(): void {
    this.#deliverer.start();
    const { clock } = this.#input;
    this.#timers = [
      clock.every(5_000, () => void this.#run('state', this.#lookAtState)),
      clock.every(60_000, () => void this.#run('books', this.#lookAtBooks)),
      clock.every(600_000, () => void this.#run('spending', this.#lookAtSpending)),
      clock.every(hourMs, () => void this.#run('service', this.#lookAtService)),
    ];
    void this.#run('service', this.#lookAtService);
  }

  /** What is called in the transactions that decide on payments. */
  get notesOfPayments() {
    const { clock } = this.#input;
    return { recordBooking: this.#recordBooking, noteAutoTopUp: autoTopUpNotes(clock) };
  }

  /** Writes the audit row and the event of a payment. */
  readonly #recordBooking: RecordBooking = async (transaction, booking) => {
    const { accountId, paymentId, part, deltaMicros } = booking;
    const data = { account_id: accountId, payment_id: paymentId, amount_micros: deltaMicros };
    const event = { type: paymentEvents[part], data, accountId, onceKey: null };
    await recordBooking(transaction, booking);
    await writeEvent(transaction, event, this.#input.clock.nowMs());
  };

  /** A provider has refused an account's own key. */
  hear(event: RequestEvent): void {
    if (event.type !== 'call-ended' || event.ending !== 'refused') return;
    const { ownKeyId: id } = event.call;
    const status = event.failure?.status;
    if (id === undefined || !status) return;
    const tell = (nowMs: number) => tellOwnKey(this.#input.database, { id, status, nowMs });
    void this.#run(`own key ${id}`, tell);
  }

  /** Looks now instead of within a minute. */
  async check(): Promise<void> {
    await this.#run('books', this.#lookAtBooks);
    this.#deliverer.wake();
  }

  /** Delivers now instead of within a second. */
  wake(): void {
    this.#deliverer.wake();
  }

  async close(): Promise<void> {
    for (const cancel of this.#timers) cancel();
    await Promise.all(this.#running.values());
    await this.#deliverer.close();
  }

  /** Runs one look of a kind at a time. Failures are logged, and the next look tries again. */
  #run(kind: string, look: (nowMs: number) => Promise<void>): Promise<void> {
    const running = this.#running.get(kind);
    if (running) return running;
    const { log, clock } = this.#input;
    const started = look(clock.nowMs())
      .catch((err: unknown) => log.error({ err, kind }, 'alerts cannot be looked for; retrying'))
      .finally(() => this.#running.delete(kind));
    this.#running.set(kind, started);
    return started;
  }

  readonly #lookAtBooks = async (nowMs: number): Promise<void> => {
    await tellLowBalances(this.#input.database, nowMs);
    await tellCaps(this.#input.database, nowMs);
  };

  /** Circuit breakers and the ledger of this process. */
  readonly #lookAtState = async (nowMs: number): Promise<void> => {
    await this.#watchBooks(nowMs);
    if (!this.#input.gateway.books.ledger.isFailing())
      await this.#watchRoutes({ ...this.#input, nowMs });
  };

  readonly #lookAtSpending = async (nowMs: number): Promise<void> => {
    await tellAnomalies(this.#input.database, nowMs);
    await tellLosses({ ...this.#input, nowMs });
  };

  readonly #lookAtService = async (nowMs: number): Promise<void> => {
    await removeOldEvents(this.#input.database.write, nowMs);
    await tellOfService({ ...this.#input, nowMs });
  };
}

/** Members who have left get nothing more, and one who has no mailbox keeps it from no other. */
function mailFrom(read: Db, mailer: Mailer): SendEventMail {
  return async ({ account_id: accountId, address }, { messageId, ...mail }) => {
    const members = accountId === null ? [] : await listMembers(read, accountId);
    const to =
      accountId === null
        ? [address]
        : members
            .filter(({ role, email }) =>
              address === ownersAddress ? role === 'owner' : email === address,
            )
            .map(({ email }) => email);
    const sent = await Promise.allSettled(
      to.map((email) => mailer.send({ to: email, ...mail, messageId: `<${messageId}@tollgate>` })),
    );
    const failed = sent.find(({ status }) => status === 'rejected');
    if (failed || to.length === 0) throw new Error('an e-mail was not sent', { cause: failed });
  };
}

/** `status`: the provider's. */
async function tellOwnKey(
  database: Database,
  { id, status, nowMs }: { readonly id: string; readonly status: number; readonly nowMs: number },
): Promise<void> {
  const refused = await noteRefused(database.write, id, nowMs);
  if (!refused) return;
  const { provider, shown_end, account_id: accountId } = refused;
  const data = { account_id: accountId, provider, own_key_id: id, shown_end, status };
  const onceKey = `own key ${id} ${Math.floor(nowMs / hourMs)}`;
  await writeNewEvents(database, [{ type: 'own_key.refused', data, accountId, onceKey }], nowMs);
}
