// Estimates output that a provider bills but does not show: hidden reasoning, a call until it is
// complete, and all of an answer that comes whole. It is visible only as silence, and counted by its
// duration until the provider states its own count.
import type { StreamProgress } from '../../formats/format.ts';
import type { Clock } from '../../lib/clock.ts';
import { tokensFromBytes } from '../../lib/tokens-from-bytes.ts';

/** Output tokens a second of most models; models with hidden reasoning are seldom faster. */
export const unseenTokensPerSecond = 100;
/** Shorter silences of a stream are put down to the network. */
const silenceMsMin = 1_000;

/** Output that a provider may generate unseen: thoughts and calls, or all of a whole answer. */
export type Unseen = 'nothing' | 'parts' | 'all';

/** The unseen output of one call, from its beginning to its end. */
export class UnseenOutput {
  readonly #clock: Clock;
  readonly #choices: number;
  readonly #unseen: Unseen;
  #isRunning = true;
  #outputBytes = 0;
  #countedTokens = 0;
  #lastOutputMs: number;
  /**
   * Tokens of all past silences, minus the output shown at the end of each, which was generated
   * during it.
   */
  #tokens = 0;

  constructor(
    clock: Clock,
    { choices, unseen }: { readonly choices: number; readonly unseen: Unseen },
  ) {
    this.#clock = clock;
    this.#choices = choices;
    this.#unseen = unseen;
    this.#lastOutputMs = clock.elapsedMs();
  }

  /** Call as a stream grows. Output that the provider has counted is no longer unseen. */
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

  /** Excludes time in which we did not read: the client had no room, or the hold had to grow. */
  noteOwnWait(): void {
    this.#lastOutputMs = this.#clock.elapsedMs();
  }

  /** The time since the last output, or since we could read again. */
  get silentMs(): number {
    return this.#clock.elapsedMs() - this.#lastOutputMs;
  }

  end(): void {
    if (this.#isRunning) this.#endSilence(0);
    this.#isRunning = false;
  }

  /** Tokens of each choice that may have been generated unseen since the call began. */
  get tokens(): number {
    if (this.#unseen === 'nothing') return 0;
    return this.#tokens + (this.#isRunning ? this.#pauseTokens() : 0);
  }

  #endSilence(shownTokens: number): void {
    this.#tokens += Math.max(this.#pauseTokens() - shownTokens, 0);
    this.#lastOutputMs = this.#clock.elapsedMs();
  }

  #pauseTokens(): number {
    const pauseMs = this.silentMs;
    const isSilence = this.#unseen === 'all' || pauseMs > silenceMsMin;
    return isSilence ? (pauseMs / 1_000) * unseenTokensPerSecond : 0;
  }
}
