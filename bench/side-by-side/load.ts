// The load on a peer, every answer checked: a closed loop, in which a client waits for an answer
// before it sends the next request, and an open one, in which requests come at a fixed rate.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { requestBytes, type Target } from '../client.ts';
import { AnswerReader, faultOf, type Answer } from './answer.ts';
import type { PeerPlay } from './peer.ts';

export type Asked = Target & { readonly play: PeerPlay };

export type Outcome = {
  readonly elapsedMs: number;
  readonly asked: number;
  /** Complete, correct answers. */
  readonly answered: number;
  /** Wrong answers and broken connections. */
  readonly wrong: number;
  readonly firstFault: string | null;
  /** Requests without an answer when the open load gave up. */
  readonly unanswered: number;
  /** From the start, or the scheduled start, to the last byte. Unanswered requests count too. */
  readonly wholeMs: readonly number[];
  readonly firstByteMs: readonly number[];
};

const connectionsMax = 1_000;
/** How long the open load waits for the last answers. */
const graceMs = 2_000;
const answerTimeoutMs = 30_000;

/** Requests that run when the time is up are completed. `signal` ends it at once. */
export async function closedLoad(
  asked: Asked,
  { clients, durationMs }: { readonly clients: number; readonly durationMs: number },
  signal?: AbortSignal,
): Promise<Outcome> {
  const tally = new Tally(asked.play);
  const pool = new Connections(asked);
  const startMs = performance.now();
  const isOver = () => signal?.aborted || performance.now() - startMs >= durationMs;
  const repeat = async () => {
    while (!isOver()) await pool.ask(performance.now(), tally);
  };
  const ended = signal ? once(signal, 'abort') : new Promise(() => {});
  await Promise.race([ended, Promise.all(Array.from({ length: clients }, repeat))]);
  const elapsedMs = performance.now() - startMs;
  pool.close();
  return tally.outcome(elapsedMs);
}

/**
 * Latency counts from the scheduled time: a peer that falls behind cannot slow the load down and
 * so hide its queue (no coordinated omission).
 */
export async function openLoad(
  asked: Asked,
  { perSecond, durationMs }: { readonly perSecond: number; readonly durationMs: number },
): Promise<Outcome> {
  const tally = new Tally(asked.play);
  const pool = new Connections(asked);
  const startMs = performance.now();
  const total = Math.round((perSecond * durationMs) / 1_000);
  const running = new Set<number>();
  for (let sent = 0; sent < total;) {
    for (; sent < total; sent += 1) {
      const dueMs = startMs + (sent * 1_000) / perSecond;
      if (dueMs > performance.now()) break;
      running.add(dueMs);
      void pool.ask(dueMs, tally).then(() => running.delete(dueMs));
    }
    await setTimeout(1);
  }
  const giveUpMs = startMs + durationMs + graceMs;
  while (running.size > 0 && performance.now() < giveUpMs) await setTimeout(5);
  const outcome = tally.outcome(performance.now() - startMs, running);
  pool.close();
  return outcome;
}

class Tally {
  readonly #play: PeerPlay;
  readonly #wholeMs: number[] = [];
  readonly #firstByteMs: number[] = [];
  #answered = 0;
  #wrong = 0;
  #firstFault: string | null = null;

  constructor(play: PeerPlay) {
    this.#play = play;
  }

  add(startMs: number, answer: Answer): void {
    this.#wholeMs.push(performance.now() - startMs);
    this.#firstByteMs.push(answer.firstByteAtMs - startMs);
    const fault = faultOf(this.#play, answer);
    if (fault === null) this.#answered += 1;
    else this.addFault(fault);
  }

  addFault(fault: string): void {
    this.#wrong += 1;
    this.#firstFault ??= fault;
  }

  outcome(elapsedMs: number, unansweredSinceMs: Iterable<number> = []): Outcome {
    const nowMs = performance.now();
    const waitedMs = Array.from(unansweredSinceMs, (sinceMs) => nowMs - sinceMs);
    return {
      elapsedMs,
      asked: this.#answered + this.#wrong + waitedMs.length,
      answered: this.#answered,
      wrong: this.#wrong,
      firstFault: this.#firstFault,
      unanswered: waitedMs.length,
      wholeMs: [...this.#wholeMs, ...waitedMs],
      firstByteMs: [...this.#firstByteMs, ...waitedMs],
    };
  }
}

/** Keeps idle connections, and opens one when none is idle. */
class Connections {
  readonly #port: number;
  readonly #request: Buffer;
  readonly #idle: Connection[] = [];
  readonly #all = new Set<Connection>();
  readonly #waiting: (() => void)[] = [];
  #closed = false;

  constructor(asked: Asked) {
    this.#port = asked.port;
    this.#request = requestBytes(asked);
  }

  /** Sends one request and adds its answer, or its failure, to the tally. Never rejects. */
  async ask(startMs: number, tally: Tally): Promise<void> {
    let connection: Connection | undefined;
    try {
      connection = await this.#take();
      tally.add(startMs, await connection.ask(this.#request));
      this.#idle.push(connection);
    } catch (error) {
      if (connection) this.#drop(connection);
      if (this.#closed) return;
      tally.addFault(String(error));
      // A peer that refuses connections must not make the clients spin.
      await setTimeout(10);
    } finally {
      this.#waiting.shift()?.();
    }
  }

  close(): void {
    this.#closed = true;
    for (const connection of this.#all) connection.close();
  }

  async #take(): Promise<Connection> {
    for (;;) {
      const idle = this.#idle.pop();
      if (idle && !idle.isClosed) return idle;
      if (idle) this.#drop(idle);
      else if (this.#all.size < connectionsMax) {
        const opened = new Connection(this.#port);
        this.#all.add(opened);
        return opened;
      } else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  #drop(connection: Connection): void {
    connection.close();
    this.#all.delete(connection);
  }
}

class Connection {
  readonly #socket: Socket;
  #reader = new AnswerReader();
  #pending: PromiseWithResolvers<Answer> | null = null;

  constructor(port: number) {
    this.#socket = connect(port, '127.0.0.1').setNoDelay(true);
    this.#socket.on('data', (bytes) => this.#read(bytes));
    this.#socket.on('error', (error) => this.#pending?.reject(error));
    this.#socket.on('close', () => this.#pending?.reject(new Error('the connection was closed')));
    this.#socket.setTimeout(answerTimeoutMs, () => this.#socket.destroy(new Error('no answer')));
  }

  get isClosed(): boolean {
    return this.#socket.destroyed || this.#socket.readableEnded;
  }

  ask(request: Buffer): Promise<Answer> {
    this.#reader = new AnswerReader();
    this.#pending = Promise.withResolvers<Answer>();
    this.#socket.write(request);
    return this.#pending.promise;
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(bytes: Buffer): void {
    try {
      const answer = this.#reader.push(bytes);
      if (answer) this.#pending?.resolve(answer);
    } catch (error) {
      this.#pending?.reject(error);
    }
  }
}
