// Counts what the gateway books, sends and waits for, in memory. The metrics read it. Money is
// counted when the ledger has booked it, which may be after the client has left: whole microdollars,
// so that sums agree with the books to the microdollar.
import type { UpstreamFailure } from '../canonical/event.ts';
import type { CallEnded, Charged, RequestEvent } from '../events/request-events.ts';
import type { ObservedRequest, RequestListener } from '../events/request-listener.ts';
import type { RequestFields } from '../events/request-fields.ts';
import type { Command, Ledger, Outcome } from '../domain/ledger/commands.ts';
import type { Clock } from '../lib/clock.ts';
import type { Registry } from '../lib/metrics/registry.ts';

const callBounds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
const commandBounds = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30];

export class Meter implements RequestListener {
  readonly #of: ReturnType<typeof instrumentsIn>;
  #commandsWaiting = 0;

  constructor(registry: Registry) {
    this.#of = instrumentsIn(registry);
    registry.addGauges({
      tollgate_ledger_waiting_commands: [
        'Commands that are not durable yet: those of the batch being written, and the queue behind it.',
        () => this.#commandsWaiting,
      ],
    });
  }

  hear(event: RequestEvent, { fields }: ObservedRequest): void {
    if (event.type === 'settled') {
      if (event.settled?.kind === 'charged') this.#noteCharge(fields, event.settled);
      else if (event.settled) this.#noteLoss(fields, event.settled.lossMicros);
    } else if (event.type === 'lost') this.#noteLoss(fields, event.lossMicros);
    else if (event.type === 'call-ended' && event.call.baseUrl !== null) this.#noteCall(event);
  }

  #noteCharge(
    { mode = 'live', model = '', provider = '', inputTokens = 0, outputTokens = 0 }: RequestFields,
    { costMicros, upstreamCostMicros, lossMicros }: Charged,
  ): void {
    this.#of.charged.add(costMicros, mode, model, provider);
    this.#of.upstreamCost.add(upstreamCostMicros, mode, model, provider);
    this.#of.losses.add(lossMicros, mode, model, provider, 'uncollected');
    this.#of.tokens.add(inputTokens, mode, model, 'input');
    this.#of.tokens.add(outputTokens, mode, model, 'output');
  }

  #noteLoss({ mode = 'live', model = '', provider = '' }: RequestFields, lossMicros: number): void {
    this.#of.losses.add(lossMicros, mode, model, provider, 'failed');
  }

  /** Streams are measured to their first piece, whole answers to their end. */
  #noteCall({ call, ending, failure, endMs }: CallEnded): void {
    const { provider, isStream, startMs, firstByteMs } = call;
    this.#of.calls.add(1, provider, outcomeOf(ending, failure));
    const ms = (firstByteMs ?? endMs) - startMs;
    this.#of.callTimes.note(ms / 1_000, provider, isStream ? 'stream' : 'whole');
  }

  /**
   * Returns a ledger whose commands are measured from their submission until they are durable.
   * `onEnd` is called with each, whatever came of it.
   */
  measure(ledger: Ledger, clock: Clock, onEnd: (command: Command) => void): Ledger {
    const submit = async (command: Command): Promise<Outcome> => {
      const startedAtMs = clock.elapsedMs();
      this.#commandsWaiting += 1;
      try {
        return await ledger.submit(command);
      } finally {
        this.#commandsWaiting -= 1;
        this.#of.commandTimes.note((clock.elapsedMs() - startedAtMs) / 1_000, command.type);
        onEnd(command);
      }
    };
    return { ...ledger, submit };
  }
}

/**
 * Returns the name of an ending: `answered`; `abandoned` when nobody waited for the end;
 * `credential-refused`; the status of a failure as `http-429` or `http-5xx`; or its kind, such as
 * `timeout`. The names are a bounded set.
 */
function outcomeOf(ending: CallEnded['ending'], failure: UpstreamFailure | null): string {
  if (ending === 'unknown') return 'abandoned';
  if (ending === 'refused') return 'credential-refused';
  if (!failure) return 'answered';
  const { kind, status } = failure;
  if (kind !== 'status' || status === null) return kind;
  return status === 429 ? 'http-429' : `http-${Math.floor(status / 100)}xx`;
}

function instrumentsIn(registry: Registry) {
  const labels = ['mode', 'model', 'provider'];
  const otlp = {
    unit: '{microdollar}',
    attributes: ['tollgate.mode', 'tollgate.model', 'tollgate.provider'],
  };
  return {
    charged: registry.counter(
      {
        name: 'tollgate_charged_micros_total',
        help: 'Microdollars charged to accounts; with mode live, the revenue.',
        labels,
      },
      { ...otlp, name: 'tollgate.charged', description: 'Charged to accounts.' },
    ),
    upstreamCost: registry.counter(
      {
        name: 'tollgate_upstream_cost_micros_total',
        help: 'Microdollars that the charged requests cost the operator.',
        labels,
      },
      {
        ...otlp,
        name: 'tollgate.upstream_cost',
        description: 'What the charged requests cost the operator.',
      },
    ),
    losses: registry.counter(
      {
        name: 'tollgate_loss_micros_total',
        help: 'Microdollars that nobody paid: calls that failed, and cost beyond what balance and caps had room for.',
        labels: [...labels, 'reason'],
      },
      { ...otlp, name: 'tollgate.loss', description: 'What nobody paid.' },
    ),
    tokens: registry.counter({
      name: 'tollgate_tokens_total',
      help: 'Tokens of charged requests.',
      labels: ['mode', 'model', 'direction'],
    }),
    calls: registry.counter({
      name: 'tollgate_upstream_attempts_total',
      help: 'Calls of a provider that have ended, by outcome, retries included.',
      labels: ['provider', 'outcome'],
    }),
    callTimes: registry.histogram(callBounds, {
      name: 'tollgate_upstream_answer_seconds',
      help: 'From the call of a provider to the first piece of its stream, or to the end of a whole answer.',
      labels: ['provider', 'kind'],
    }),
    commandTimes: registry.histogram(commandBounds, {
      name: 'tollgate_ledger_commit_seconds',
      help: 'From the submission of a command, such as settle, until it is durable.',
      labels: ['command'],
    }),
  };
}
