// Output that a provider bills and does not show: reasoning that it hides, and all of an answer that comes whole. It shows only in a
// silence of some length, and is counted by that until the provider states its own count.
import type { StreamProgress } from '../formats/format.ts';
import type { Clock } from '../lib/clock.ts';
import { tokensFromBytes } from '../lib/tokens.ts';

/** What most models write in a second; those that think unseen are seldom faster. */
export const unseenTokensPerSecond = 100;
/** In a stream a shorter silence is taken for the network's. */
const silenceMsMin = 1_000;

/** What a provider may write unseen: its thoughts, or all of an answer that comes whole. */
export type Unseen = 'nothing' | 'thoughts' | 'all';

export class UnseenOutput {
  readonly #clock: Clock;
  readonly #choices: number;
  #unseen: Unseen = 'nothing';
  #isRunning = false;
  #outputBytes = 0;
  #countedTokens = 0;
  #lastOutputMs = 0;
  /** Of all silences that have ended, less what was shown at their end: it was written in them. */
  #tokens = 0;

  constructor(clock: Clock, { choices }: { readonly choices: number }) {
    this.#clock = clock;
    this.#choices = choices;
  }

  /** A call begins. */
  begin(unseen: Unseen): void {
    this.#unseen = unseen;
    this.#isRunning = true;
    this.#outputBytes = 0;
    this.#countedTokens = 0;
    this.#tokens = 0;
    this.#lastOutputMs = this.#clock.elapsedMs();
  }

  /** To be called as a stream grows. What its provider has counted is unseen no longer. */
  note({ output, usage }: Pick<StreamProgress, 'output' | 'usage'>): void {
    const { bytes } = output;
    if (bytes > this.#outputBytes) {
      this.#endSilence(tokensFromBytes(bytes - this.#outputBytes) / this.#choices);
      this.#outputBytes = bytes;
    }
    const countedTokens = usage?.outputTokens ?? 0;
    if (countedTokens === this.#countedTokens) return;
    this.#countedTokens = countedTokens;
    this.#tokens = 0;
    this.#lastOutputMs = this.#clock.elapsedMs();
  }

  /** We did not listen, since the client had no room, or more had to be held first: that was no silence of the provider's. */
  noteOwnWait(): void {
    this.#lastOutputMs = this.#clock.elapsedMs();
  }

  /** The call is over. */
  end(): void {
    if (this.#isRunning) this.#endSilence(0);
    this.#isRunning = false;
  }

  /** Tokens of each choice that may have been written unseen since the call began. */
  get tokens(): number {
    if (this.#unseen === 'nothing') return 0;
    return this.#tokens + (this.#isRunning ? this.#pauseTokens() : 0);
  }

  #endSilence(shownTokens: number): void {
    this.#tokens += Math.max(this.#pauseTokens() - shownTokens, 0);
    this.#lastOutputMs = this.#clock.elapsedMs();
  }

  #pauseTokens(): number {
    const pauseMs = this.#clock.elapsedMs() - this.#lastOutputMs;
    const isSilence = this.#unseen === 'all' || pauseMs > silenceMsMin;
    return isSilence ? (pauseMs / 1_000) * unseenTokensPerSecond : 0;
  }
}
