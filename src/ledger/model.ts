// For tests: the ledger once more, as plainly as it can be said. It remembers what happened and adds it up anew each time; it
// shares no code with the core, so that both are wrong together only if the rules themselves are.
import type { Command, Outcome } from './commands.ts';
import type { Expire } from './core.ts';

type ModelHold = {
  readonly ledger: string;
  readonly key: string;
  readonly amount: number;
  readonly windows: readonly string[];
  readonly caps: readonly (number | null)[];
  readonly held: Outcome;
  isOpen: boolean;
  hasExpired: boolean;
  charged: number;
  end: { readonly by: 'settle' | 'release'; readonly outcome: Outcome } | null;
};

export class LedgerModel {
  readonly holds = new Map<string, ModelHold>();
  readonly #adjustments = new Map<string, { ledger: string; amount: number; outcome: Outcome }>();

  run(command: Command | Expire, nowMs: number): Outcome {
    if (command.type === 'credit' || command.type === 'debit') return this.#adjust(command);
    if (command.type === 'reserve') return this.#reserve(command, new Date(nowMs).toISOString());
    const hold = this.holds.get(command.holdId);
    if (!hold) return { type: 'unknown-hold' };
    if (command.type === 'expire') return this.#expire(hold);
    if (hold.end) return hold.end.by === command.type ? hold.end.outcome : { type: 'already-resolved' };
    hold.end = {
      by: command.type,
      outcome: command.type === 'settle' ? this.#settle(hold, command.costMicros) : { type: 'released' },
    };
    hold.isOpen = false;
    return hold.end.outcome;
  }

  available(ledger: string): number {
    const adjusted = sum([...this.#adjustments.values()].filter((item) => item.ledger === ledger).map((item) => item.amount));
    return adjusted - sum(this.#of((hold) => hold.ledger === ledger).map(weight));
  }

  /** Spent and held by a key in a day (`2026-11-21`) or month (`2026-11`). */
  used(key: string, window: string): number {
    return sum(this.#of((hold) => hold.key === key && hold.windows.includes(window)).map(weight));
  }

  #adjust(command: Extract<Command, { type: 'credit' | 'debit' }>): Outcome {
    const name = `${command.type} ${command.entryId}`;
    const earlier = this.#adjustments.get(name);
    if (earlier) return earlier.outcome;
    const amount = command.type === 'credit' ? command.amountMicros : 0 - command.amountMicros;
    const availableMicros = (this.available(command.ledgerId) + amount) as never;
    const outcome: Outcome = { type: command.type === 'credit' ? 'credited' : 'debited', availableMicros };
    this.#adjustments.set(name, { ledger: command.ledgerId, amount, outcome });
    return outcome;
  }

  #reserve(command: Extract<Command, { type: 'reserve' }>, now: string): Outcome {
    const earlier = this.holds.get(command.holdId);
    if (earlier) return earlier.held;
    const { ledgerId: ledger, keyId: key, amountMicros: amount } = command;
    const windows = [now.slice(0, 10), now.slice(0, 7)];
    const caps = [command.dailyCapMicros, command.monthlyCapMicros];
    const rooms = [...this.#capRooms(key, windows, caps), Math.max(0, this.available(ledger))];
    const refusing = rooms.findIndex((room, index) => amount > room || caps[index] === 0);
    if (refusing >= 0) return this.#refusal(command, { refusing, rooms, windows });
    const held: Outcome = { type: 'held', availableMicros: (this.available(ledger) - amount) as never };
    this.holds.set(command.holdId, {
      ledger,
      key,
      amount,
      windows,
      caps,
      held,
      isOpen: true,
      hasExpired: false,
      charged: 0,
      end: null,
    });
    return held;
  }

  #refusal(
    { ledgerId, keyId }: Extract<Command, { type: 'reserve' }>,
    { refusing, rooms, windows }: { refusing: number; rooms: readonly number[]; windows: readonly string[] },
  ): Outcome {
    const window = windows[refusing];
    const holds = this.#of((hold) => (window ? hold.key === keyId && hold.windows.includes(window) : hold.ledger === ledgerId));
    const [day = '', month = ''] = windows;
    const nextDay = Date.parse(day) + 24 * 3_600_000;
    const [year = 0, monthNumber = 0] = month.split('-').map(Number);
    return {
      type: (['key-daily-limit', 'key-monthly-limit', 'insufficient-balance'] as const)[refusing]!,
      leftMicros: rooms[refusing] as never,
      heldMicros: sum(holds.filter((hold) => hold.isOpen).map((hold) => hold.amount)) as never,
      affordableMicros: Math.min(...rooms) as never,
      resetsAtMs: [nextDay, Date.UTC(year, monthNumber, 1), null][refusing]!,
    };
  }

  #settle(hold: ModelHold, cost: number): Outcome {
    const rooms = [...this.#capRooms(hold.key, hold.windows, hold.caps), Math.max(0, this.available(hold.ledger))];
    hold.charged = Math.min(cost, (hold.isOpen ? hold.amount : 0) + Math.min(...rooms));
    hold.isOpen = false;
    const availableMicros = this.available(hold.ledger) as never;
    return { type: 'charged', chargedMicros: hold.charged as never, lossMicros: (cost - hold.charged) as never, availableMicros };
  }

  #expire(hold: ModelHold): Outcome {
    hold.hasExpired ||= hold.isOpen;
    hold.isOpen = false;
    return { type: hold.hasExpired ? 'released' : 'already-resolved' };
  }

  #capRooms(key: string, windows: readonly string[], caps: readonly (number | null)[]): number[] {
    return windows.map((window, index) => {
      const cap = caps[index] ?? null;
      return cap === null ? Infinity : Math.max(0, cap - this.used(key, window));
    });
  }

  #of(isWanted: (hold: ModelHold) => boolean): ModelHold[] {
    return [...this.holds.values()].filter(isWanted);
  }
}

function weight(hold: ModelHold): number {
  return hold.charged + (hold.isOpen ? hold.amount : 0);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
