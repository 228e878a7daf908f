// Shares memory between request bodies: between those that arrive, and between the large ones that
// image requests keep. Whoever holds most gives way first, so nobody is refused or waits because
// another client stalls its uploads.
import type { FastifyRequest } from 'fastify';
import { clientGroupOf } from '../lib/addresses.ts';
import type { ApiKey } from '../domain/keys/api-key.ts';
import type { Clock } from '../lib/clock.ts';

/** An upload that holds more than the next in the queue would may take this long. */
const uploadMs = 5_000;
/** How often the queue looks for such uploads. */
const lookMs = 1_000;

export type Place = {
  /** Resolves to true when its turn has come, to false when it left before. */
  readonly admitted: Promise<boolean>;
  /** Counts bytes that have arrived. If they do not fit, the heaviest body is refused. */
  readonly take: (bytes: number) => void;
  /** `refuse` is called when the body must give way. That happens only until `keep`. */
  readonly onRefused: (refuse: () => void) => void;
  /** Call when the whole body has arrived. It keeps these bytes until it leaves. */
  readonly keep: (bytes: number) => void;
  /** Leaves the queue or frees the memory; further calls do nothing. */
  readonly leave: () => void;
};

/** Bytes that all bodies of a key, an account or an address hold together. */
type Share = { readonly name: string; bytes: number; bodies: number };

type Body = {
  readonly shares: readonly Share[];
  /** Bytes that must be free before it is let in. They are reserved for it. */
  readonly needed: number;
  held: number;
  /** When it was let in. */
  sinceMs: number;
  isArriving: boolean;
  readonly decide: (isAdmitted: boolean) => void;
  refuse: () => void;
};

/** Returns the names under which a request's body counts. Without a key its address counts alone. */
export function ownersOf({ apiKey, ip }: FastifyRequest): readonly string[] {
  const address = clientGroupOf(ip);
  const { id = address, accountId = address } = apiKey ?? {};
  return [`key ${id}`, `account ${accountId}`, `address ${address}`];
}

/** The size of the room for requests with test keys, as a part of the room for live ones. */
const testPart = 1 / 4;

export type RoomsByMode = Readonly<Record<ApiKey['mode'], BodyRoom>>;

/**
 * Returns rooms for bodies that are kept while their requests run. A test costs nothing and lasts as
 * long as its sender says, so tests have a room of their own.
 */
export function roomsByMode(bytesMax: number, clock: Clock): RoomsByMode {
  return {
    live: new BodyRoom(bytesMax, clock),
    test: new BodyRoom(bytesMax * testPart, clock),
  };
}

export function roomOf({ apiKey }: FastifyRequest, rooms: RoomsByMode): BodyRoom {
  return rooms[apiKey?.mode ?? 'live'];
}

export class BodyRoom {
  readonly #bytesMax: number;
  readonly #clock: Clock;
  readonly #inside = new Set<Body>();
  readonly #queue = new Set<Body>();
  readonly #shares = new Map<string, Share>();
  #bytes = 0;
  #isLooking = false;

  constructor(bytesMax: number, clock: Clock) {
    this.#bytesMax = bytesMax;
    this.#clock = clock;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /**
   * Queues a body until `needed` bytes are free. One that needs more than the whole room is let in
   * alone. One that needs none is let in at once, and counts what arrives.
   */
  enter(owners: readonly string[], needed = 0): Place {
    const { promise: admitted, resolve: decide } = Promise.withResolvers<boolean>();
    const body: Body = {
      shares: owners.map((name) => this.#join(name)),
      needed,
      held: 0,
      sinceMs: 0,
      isArriving: true,
      decide,
      refuse: () => {},
    };
    this.#queue.add(body);
    this.#admitNext();
    return {
      admitted,
      take: (bytes) => this.#take(body, bytes),
      onRefused: (refuse) => (body.refuse = refuse),
      keep: (bytes) => {
        body.isArriving = false;
        this.#hold(body, Math.min(bytes, body.held));
        this.#admitNext();
      },
      leave: () => this.#leave(body),
    };
  }

  #join(name: string): Share {
    const share = this.#shares.get(name) ?? { name, bytes: 0, bodies: 0 };
    share.bodies += 1;
    this.#shares.set(name, share);
    return share;
  }

  #take(body: Body, bytes: number): void {
    if (!this.#inside.has(body) || body.needed > 0) return;
    this.#hold(body, body.held + bytes);
    // A body may exceed the limit when it is alone.
    while (this.#bytes > this.#bytesMax && this.#bytes > body.held && this.#inside.has(body))
      this.#refuse(this.#heaviest()!);
  }

  #hold(body: Body, bytes: number): void {
    const change = bytes - body.held;
    body.held = bytes;
    this.#bytes += change;
    for (const share of body.shares) share.bytes += change;
  }

  #refuse(body: Body): void {
    this.#leave(body);
    body.refuse();
  }

  #leave(body: Body): void {
    if (!this.#queue.delete(body) && !this.#inside.delete(body)) return;
    body.decide(false);
    this.#hold(body, 0);
    for (const share of body.shares) if (--share.bodies === 0) this.#shares.delete(share.name);
    this.#admitNext();
  }

  /** Nobody overtakes: a large body that must wait holds up the small ones behind it. */
  #admitNext(): void {
    for (let next = this.#lightest(); next; next = this.#lightest()) {
      if (next.needed === 0 || this.#bytes === 0 || this.#bytes + next.needed <= this.#bytesMax)
        this.#admit(next);
      else if (!this.#makeRoom(next)) return;
    }
  }

  #admit(body: Body): void {
    this.#queue.delete(body);
    this.#inside.add(body);
    body.sinceMs = this.#clock.elapsedMs();
    this.#hold(body, body.needed);
    body.decide(true);
  }

  /** Refuses an upload whose owner holds more than that of the next in the queue would. */
  #makeRoom(next: Body): boolean {
    const slow = this.#heaviest(uploadMs);
    if (slow && weightOf(slow) > weightOf(next) + next.shares.length * next.needed) {
      this.#refuse(slow);
      return true;
    }
    if (!this.#isLooking) this.#clock.after(lookMs, () => this.#lookAgain());
    this.#isLooking = true;
    return false;
  }

  #lookAgain(): void {
    this.#isLooking = false;
    this.#admitNext();
  }

  /** Returns the first in the queue of those whose owners hold least, then have fewest bodies. */
  #lightest(): Body | null {
    let lightest: Body | null = null;
    for (const body of this.#queue) if (!lightest || isLighter(body, lightest)) lightest = body;
    return lightest;
  }

  /** Returns the heaviest of the bodies that have been arriving for `arrivingMs`. */
  #heaviest(arrivingMs = 0): Body | null {
    const nowMs = this.#clock.elapsedMs();
    let heaviest: Body | null = null;
    for (const body of this.#inside) {
      if (!body.isArriving || nowMs - body.sinceMs < arrivingMs) continue;
      if (!heaviest || isHeavier(body, heaviest, nowMs)) heaviest = body;
    }
    return heaviest;
  }
}

function isLighter(body: Body, other: Body): boolean {
  const difference = weightOf(body) - weightOf(other);
  return difference === 0 ? bodiesOf(body) < bodiesOf(other) : difference < 0;
}

/** Compares by what the owners hold. Of one owner's bodies, the largest and slowest is heaviest. */
function isHeavier(body: Body, other: Body, nowMs: number): boolean {
  const difference = weightOf(body) - weightOf(other);
  if (difference !== 0) return difference > 0;
  return body.held * (nowMs - body.sinceMs + 1) > other.held * (nowMs - other.sinceMs + 1);
}

/** The sum counts what is sent under many keys, accounts or addresses of one client. */
function weightOf({ shares }: Body): number {
  return shares.reduce((sum, { bytes }) => sum + bytes, 0);
}

function bodiesOf({ shares }: Body): number {
  return shares.reduce((sum, { bodies }) => sum + bodies, 0);
}
