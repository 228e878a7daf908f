// Output that a provider bills and does not show: reasoning that it hides, and all of an answer that comes whole. It shows only in a
// silence of some length, and is counted by that until the provider states its own count.
import type { Clock } from '../lib/clock.ts';

/** What most models write in a second; those that think unseen are seldom faster. */
export const unseenTokensPerSecond = 100;
/** In a stream a shorter silence is taken for the network's. */
const silenceMsMin = 1_000;

/** What a provider may write unseen: its thoughts, or all of an answer that comes whole. */
export type Unseen = 'nothing' | 'thoughts' | 'all';

export class UnseenOutput {
  readonly #clock: Clock;
  #unseen: Unseen = 'nothing';
  #isRunning = false;
  #outputBytes = 0;
  #lastOutputMs = 0;
  /** Of all silences that have ended. */
  #silentMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A call begins. */
  begin(unseen: Unseen): void {
    this.#unseen = unseen;
    this.#isRunning = true;
    this.#outputBytes = 0;
    this.#silentMs = 0;
    this.#lastOutputMs = this.#clock.elapsedMs();
  }

  /** To be called as a stream grows, with all that it has brought so far. */
  note(outputBytes: number): void {
    if (outputBytes <= this.#outputBytes) return;
    this.#outputBytes = outputBytes;
    this.#endSilence();
  }

  /** We did not listen, since the client had no room, or more had to be held first: that was no silence of the provider's. */
  noteOwnWait(): void {
    this.#lastOutputMs = this.#clock.elapsedMs();
  }

  /** The call is over. */
  end(): void {
    if (this.#isRunning) this.#endSilence();
    this.#isRunning = false;
  }

  /** Tokens of each choice that may have been written unseen since the call began. */
  get tokens(): number {
    if (this.#unseen === 'nothing') return 0;
    const silentMs = this.#silentMs + (this.#isRunning ? this.#pauseMs() : 0);
    return (silentMs / 1_000) * unseenTokensPerSecond;
  }

  #endSilence(): void {
    this.#silentMs += this.#pauseMs();
    this.#lastOutputMs = this.#clock.elapsedMs();
  }

  #pauseMs(): number {
    const pauseMs = this.#clock.elapsedMs() - this.#lastOutputMs;
    return this.#unseen === 'all' || pauseMs > silenceMsMin ? pauseMs : 0;
  }
}
