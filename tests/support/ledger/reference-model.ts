// A second, simple ledger that the real one is compared with. It stores every command and
// recomputes all sums for each answer. It shares no code with the core, so a mistake in either
// shows as a difference.
import type { Budget, Command, LikelyCost, Outcome } from '../../../src/domain/ledger/commands.ts';
import type { Expire } from '../../../src/domain/ledger/core.ts';

type ModelHold = {
  readonly ledger: string;
  readonly key: string;
  amount: number;
  readonly extensions: Map<number, Outcome>;
  readonly windows: readonly string[];
  readonly caps: readonly (number | null)[];
  readonly held: Outcome;
  readonly likelyCost: LikelyCost | undefined;
  /** In the ledger's time. */
  readonly heldAtMs: number;
  isOpen: boolean;
  hasExpired: boolean;
  charged: number;
  /** The loss it caused: reported by its owner, or estimated when it expired. */
  failed: number;
  provoked: { readonly loss: number; readonly day: string } | null;
  end: { readonly by: 'settle' | 'release'; readonly outcome: Outcome } | null;
};

export class LedgerModel {
  readonly holds = new Map<string, ModelHold>();
  /** The keys of each member. */
  readonly #members: Readonly<Record<string, readonly string[]>>;
  /** A ledger's time never goes backwards. */
  readonly #timesMs = new Map<string, number>();
  readonly #adjustments = new Map<string, { ledger: string; amount: number; outcome: Outcome }>();

  constructor(members: Readonly<Record<string, readonly string[]>> = {}) {
    this.#members = members;
  }

  run(command: Command | Expire, nowMs: number): Outcome {
    if (command.type === 'credit' || command.type === 'debit') return this.#adjust(command, nowMs);
    if (command.type === 'reserve') return this.#reserve(command, nowMs);
    const hold = this.holds.get(command.holdId);
    if (!hold) return { type: 'unknown-hold' };
    if (command.type === 'expire') return this.#expire(hold, command, nowMs);
    if (command.type === 'extend') return this.#extend(hold, command, nowMs);
    if (hold.end)
      return hold.end.by === command.type ? hold.end.outcome : { type: 'already-resolved' };
    this.#pass(hold.ledger, nowMs);
    const wasOpen = hold.isOpen;
    hold.end = {
      by: command.type,
      outcome: command.type === 'settle' ? this.#settle(hold, command) : { type: 'released' },
    };
    const loss = command.type === 'settle' ? command.costMicros - hold.charged : command.lossMicros;
    hold.failed = command.type === 'settle' ? 0 : loss;
    const isCausedByAccount =
      command.type === 'settle' ? wasOpen : command.isCausedByAccount === true;
    if (isCausedByAccount && loss > 0)
      hold.provoked = { loss, day: this.#timeOf(hold.ledger, nowMs).slice(0, 10) };
    hold.isOpen = false;
    return hold.end.outcome;
  }

  available(ledger: string): number {
    const adjusted = sum(
      [...this.#adjustments.values()]
        .filter((item) => item.ledger === ledger)
        .map((item) => item.amount),
    );
    return adjusted - sum(this.#of((hold) => hold.ledger === ledger).map(weight));
  }

  /** The cost of requests that were not charged. */
  failed(ledger: string): number {
    return sum(this.#of((hold) => hold.ledger === ledger).map((hold) => hold.failed));
  }

  /** Provoked losses, by the day on which they were booked. */
  provoked(ledger: string): Readonly<Record<string, number>> {
    const days: Record<string, number> = {};
    for (const { provoked } of this.#of((hold) => hold.ledger === ledger))
      if (provoked) days[provoked.day] = (days[provoked.day] ?? 0) + provoked.loss;
    return days;
  }

  /** Spent and held by all keys of a member. */
  usedBy(member: string, window: string): number {
    return sum(this.#members[member]!.map((key) => this.used(key, window)));
  }

  /** Spent and held by a key in a day (`2026-11-21`) or a month (`2026-11`). */
  used(key: string, window: string): number {
    return sum(this.#of((hold) => hold.key === key && hold.windows.includes(window)).map(weight));
  }

  /** The settled part of that sum. */
  charged(key: string, window: string): number {
    return sum(
      this.#of((hold) => hold.key === key && hold.windows.includes(window)).map(
        (hold) => hold.charged,
      ),
    );
  }

  /** The ledger's time after an event at `nowMs` on the clock. */
  #pass(ledger: string, nowMs: number): void {
    this.#timesMs.set(ledger, Math.max(nowMs, this.#timesMs.get(ledger) ?? 0));
  }

  #timeOf(ledger: string, nowMs: number): string {
    return new Date(Math.max(nowMs, this.#timesMs.get(ledger) ?? 0)).toISOString();
  }

  #adjust(command: Extract<Command, { type: 'credit' | 'debit' }>, nowMs: number): Outcome {
    const name = command.entryId;
    const earlier = this.#adjustments.get(name);
    if (earlier) return earlier.outcome;
    this.#pass(command.ledgerId, nowMs);
    const amount = command.type === 'credit' ? command.amountMicros : 0 - command.amountMicros;
    const availableMicros = (this.available(command.ledgerId) + amount) as never;
    const outcome: Outcome = {
      type: command.type === 'credit' ? 'credited' : 'debited',
      availableMicros,
    };
    this.#adjustments.set(name, { ledger: command.ledgerId, amount, outcome });
    return outcome;
  }

  #reserve(command: Extract<Command, { type: 'reserve' }>, nowMs: number): Outcome {
    const earlier = this.holds.get(command.holdId);
    if (earlier) return repeated(earlier.held);
    const { ledgerId: ledger, keyId: key, amountMicros: amount } = command;
    const now = this.#timeOf(ledger, nowMs);
    const windows = [now.slice(0, 10), now.slice(0, 7)];
    const caps = [command.dailyCapMicros, command.monthlyCapMicros];
    const asked = { ledger, key, amount, windows, caps, budget: command.budget };
    const refusal = this.#refuse(asked, now);
    if (refusal) return refusal;
    this.#pass(ledger, nowMs);
    const fullestCap = this.#fullestCap(asked, now);
    const held: Outcome = {
      type: 'held',
      availableMicros: (this.available(ledger) - amount) as never,
      ...(fullestCap && { fullestCap: fullestCap as never }),
    };
    this.holds.set(command.holdId, {
      ledger,
      key,
      amount,
      extensions: new Map(),
      windows,
      caps,
      held,
      likelyCost: command.likelyCost,
      heldAtMs: Date.parse(now),
      failed: 0,
      provoked: null,
      isOpen: true,
      hasExpired: false,
      charged: 0,
      end: null,
    });
    return held;
  }

  #extend(
    hold: ModelHold,
    { part, amountMicros: amount, budget }: Extract<Command, { type: 'extend' }>,
    nowMs: number,
  ): Outcome {
    const earlier = hold.extensions.get(part);
    if (earlier) return earlier;
    if (!hold.isOpen) return { type: 'already-resolved' };
    const refusal = this.#refuse({ ...hold, amount, budget }, this.#timeOf(hold.ledger, nowMs));
    if (refusal) return refusal;
    this.#pass(hold.ledger, nowMs);
    hold.amount += amount;
    const held: Outcome = { type: 'held', availableMicros: this.available(hold.ledger) as never };
    hold.extensions.set(part, held);
    return held;
  }

  #refuse(asked: Asked, now: string): Outcome | null {
    const { ledger, amount } = asked;
    const limits = this.#limitsOf(asked);
    const refusing = limits.find(({ room, cap }) => amount > room || cap === 0);
    if (!refusing) return null;
    const { type, room, keys, window, cap } = refusing;
    const holds = this.#of((hold) =>
      window ? keys.includes(hold.key) && hold.windows.includes(window) : hold.ledger === ledger,
    );
    return {
      type,
      leftMicros: room as never,
      heldMicros: sum(holds.filter((hold) => hold.isOpen).map((hold) => hold.amount)) as never,
      cap: window
        ? ({
            capMicros: cap,
            spentMicros: sum(keys.map((key) => this.charged(key, window))),
          } as never)
        : null,
      affordableMicros: Math.min(...limits.map((limit) => limit.room)) as never,
      resetsAtMs: window ? resetOf(window, now) : null,
    };
  }

  /** The cap or budget of which the largest part is charged, before the asked hold. */
  #fullestCap(asked: Asked, now: string) {
    const caps = this.#limitsOf(asked).flatMap(({ keys, window, cap }) => {
      if (!window || cap === null) return [];
      const spentMicros = sum(keys.map((key) => this.charged(key, window)));
      const resetsAtMs = resetOf(window, now);
      return [
        { window: window.length === 10 ? 'day' : 'month', capMicros: cap, spentMicros, resetsAtMs },
      ];
    });
    let fullest = caps[0];
    for (const cap of caps) {
      // Compared as fractions, by cross-multiplication.
      const more = cap.spentMicros * fullest!.capMicros - fullest!.spentMicros * cap.capMicros;
      if (more > 0 || (more === 0 && cap.resetsAtMs > fullest!.resetsAtMs)) fullest = cap;
    }
    return fullest;
  }

  #settle(
    hold: ModelHold,
    { costMicros: cost, budget }: Extract<Command, { type: 'settle' }>,
  ): Outcome {
    const rooms = this.#limitsOf({ ...hold, budget }).map(({ room }) => room);
    hold.charged = Math.min(cost, (hold.isOpen ? hold.amount : 0) + Math.min(...rooms));
    hold.isOpen = false;
    const availableMicros = this.available(hold.ledger) as never;
    return {
      type: 'charged',
      chargedMicros: hold.charged as never,
      lossMicros: (cost - hold.charged) as never,
      availableMicros,
    };
  }

  #expire(hold: ModelHold, { ownerEndedAtMs }: Expire, nowMs: number): Outcome {
    if (hold.isOpen) {
      this.#pass(hold.ledger, nowMs);
      const seconds = Math.max(0, (ownerEndedAtMs ?? hold.heldAtMs) - hold.heldAtMs) / 1_000;
      const { atOnceMicros = 0, perSecondMicros = 0 } = hold.likelyCost ?? {};
      hold.failed = Math.min(hold.amount, atOnceMicros + Math.round(perSecondMicros * seconds));
    }
    hold.hasExpired ||= hold.isOpen;
    hold.isOpen = false;
    return { type: hold.hasExpired ? 'released' : 'already-resolved' };
  }

  #limitsOf({ ledger, key, windows, caps, budget }: Omit<Asked, 'amount'>) {
    const owned = budget ? this.#members[budget.memberId]! : [];
    const budgets = [budget?.dailyMicros ?? null, budget?.monthlyMicros ?? null];
    const all = [
      ...windows.map((window, index) => ({ keys: [key], window, cap: caps[index] ?? null })),
      ...windows.map((window, index) => ({ keys: owned, window, cap: budgets[index] ?? null })),
    ].map(({ keys, window, cap }, index) => {
      const used = sum(keys.map((one) => this.used(one, window)));
      const room = cap === null ? Infinity : Math.max(0, cap - used);
      return { type: limitTypes[index]!, keys, window, cap, room };
    });
    const balance = {
      type: 'insufficient-balance',
      keys: [],
      window: null,
      cap: null,
      room: Math.max(0, this.available(ledger)),
    } as const;
    return [...all, balance];
  }

  #of(isWanted: (hold: ModelHold) => boolean): ModelHold[] {
    return [...this.holds.values()].filter(isWanted);
  }
}

type Asked = Pick<ModelHold, 'ledger' | 'key' | 'amount' | 'windows' | 'caps'> & {
  readonly budget: Budget | undefined;
};

const limitTypes = [
  'key-daily-limit',
  'key-monthly-limit',
  'member-daily-limit',
  'member-monthly-limit',
] as const;

/** What a repeated command is answered: the cap was told once. */
export function repeated(outcome: Outcome): Outcome {
  if (outcome.type !== 'held') return outcome;
  return { type: 'held', availableMicros: outcome.availableMicros };
}

/** The end of a day (`2026-11-21`) or a month (`2026-11`) that `now` is in. */
function resetOf(window: string, now: string): number {
  if (window.length === 10) return Date.parse(now.slice(0, 10)) + 24 * 3_600_000;
  const [year = 0, month = 0] = now.slice(0, 7).split('-').map(Number);
  return Date.UTC(year, month, 1);
}

function weight(hold: ModelHold): number {
  return hold.charged + (hold.isOpen ? hold.amount : 0);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
