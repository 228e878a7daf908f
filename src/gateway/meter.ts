// Counts what the gateway books, sends and waits for, in memory. The metrics read it. Money is
// counted when the ledger has booked it, which may be after the client has left.
import type { Command, Ledger, Outcome } from '../domain/ledger/commands.ts';
import type { Clock } from '../lib/clock.ts';
import { Counts } from '../lib/counts.ts';
import { Timings } from '../lib/timings.ts';
import type { BookingListener, Charged, RequestFields } from './request-log.ts';

/** A finished call to a provider. */
type MeteredCall = {
  readonly provider: string;
  readonly kind: 'stream' | 'whole';
  /** Named in `routing/ended-call.ts`. */
  readonly outcome: string;
  /** Streams are measured to their first piece, whole answers to their end. */
  readonly ms: number;
};

const callBuckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
const commandBuckets = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30];

export class Meter implements BookingListener {
  /** By mode, model and provider; losses also by reason. */
  readonly charged = new Counts();
  readonly upstreamCost = new Counts();
  readonly losses = new Counts();
  /** By mode, model and direction. */
  readonly tokens = new Counts();
  /** By provider and outcome. */
  readonly calls = new Counts();
  /** By provider and kind. */
  readonly callTimes = new Timings(callBuckets);
  /** By the type of the command. */
  readonly commandTimes = new Timings(commandBuckets);
  #commandsWaiting = 0;

  /** Commands that the ledger has not yet answered. */
  get commandsWaiting(): number {
    return this.#commandsWaiting;
  }

  noteCharge(
    { mode = 'live', model = '', provider = '', inputTokens = 0, outputTokens = 0 }: RequestFields,
    { costMicros, upstreamCostMicros, lossMicros }: Charged,
  ): void {
    this.charged.add(costMicros, mode, model, provider);
    this.upstreamCost.add(upstreamCostMicros, mode, model, provider);
    this.losses.add(lossMicros, mode, model, provider, 'uncollected');
    this.tokens.add(inputTokens, mode, model, 'input');
    this.tokens.add(outputTokens, mode, model, 'output');
  }

  noteLoss({ mode = 'live', model = '', provider = '' }: RequestFields, lossMicros: number): void {
    this.losses.add(lossMicros, mode, model, provider, 'failed');
  }

  noteCall({ provider, kind, outcome, ms }: MeteredCall): void {
    this.calls.add(1, provider, outcome);
    this.callTimes.note(ms, provider, kind);
  }

  /** Returns a ledger whose commands are measured from their submission until they are durable. */
  measure(ledger: Ledger, clock: Clock): Ledger {
    const submit = async (command: Command): Promise<Outcome> => {
      const startedAtMs = clock.elapsedMs();
      this.#commandsWaiting += 1;
      try {
        return await ledger.submit(command);
      } finally {
        this.#commandsWaiting -= 1;
        this.commandTimes.note(clock.elapsedMs() - startedAtMs, command.type);
      }
    };
    return { ...ledger, submit };
  }
}
