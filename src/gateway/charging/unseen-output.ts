// Estimates output that a provider bills but does not show: hidden reasoning, a call until it is
// complete, and all of an answer that comes whole. It is visible only as silence, and counted by its
// duration and the route's speed until the provider states its own count. The silence before a
// stream's first event may be a queue: it counts only as long as no event comes, for a loss.
import type { Usage } from '../../canonical/usage.ts';
import type { StreamProgress } from '../../formats/format.ts';
import type { Clock } from '../../lib/clock.ts';
import { tokensFromBytes } from '../../lib/tokens-from-bytes.ts';
import type { Writing } from '../calling/health.ts';

/** Shorter silences of a stream are put down to the network. */
const silenceMsMin = 1_000;

/** Output that a provider may generate unseen: thoughts and calls, or all of a whole answer. */
export type Unseen = 'nothing' | 'parts' | 'all';

type UnseenOptions = {
  readonly choices: number;
  readonly unseen: Unseen;
  /** The route's speed, for each choice. */
  readonly tokensPerSecond: number;
};

export class UnseenOutput {
  /** True after the first event of a stream: the model runs. Always true for a whole answer. */
  hasBegun: boolean;
  readonly #clock: Clock;
  readonly #options: UnseenOptions;
  readonly #startedAtMs: number;
  #isRunning = true;
  #isPaused = false;
  #outputBytes = 0;
  #countedTokens = 0;
  /** Output bytes at the provider's last count. */
  #countedBytes = 0;
  #lastOutputMs: number;
  /** Output that one choice has shown without a silence before it; null: unknown, because we paused. */
  #shown: Writing | null = { tokens: 0, ms: 0 };
  /**
   * Tokens of all past silences, minus the output shown at the end of each, which was generated
   * during it.
   */
  #tokens = 0;

  constructor(clock: Clock, options: UnseenOptions) {
    this.#clock = clock;
    this.#options = options;
    this.#startedAtMs = clock.elapsedMs();
    this.#lastOutputMs = this.#startedAtMs;
    this.hasBegun = options.unseen === 'all';
  }

  /** Call with the first event of a stream. */
  begin(): void {
    if (this.hasBegun) return;
    this.hasBegun = true;
    this.#lastOutputMs = this.#clock.elapsedMs();
  }

  /** Call with the provider's count of a whole answer; null: it sent none. */
  noteWhole(usage: Usage | null): void {
    this.#countedTokens = usage?.outputTokens ?? 0;
  }

  /** Call as a stream grows. Output that the provider has counted is no longer unseen. */
  note({ output, usage }: Pick<StreamProgress, 'output' | 'usage'>): void {
    const { bytes } = output;
    if (bytes > this.#outputBytes) {
      this.#endSilence(tokensFromBytes(bytes - this.#outputBytes) / this.#options.choices);
      this.#outputBytes = bytes;
    }
    const countedTokens = usage?.outputTokens ?? 0;
    if (countedTokens === this.#countedTokens) return;
    this.#countedTokens = countedTokens;
    this.#countedBytes = bytes;
    this.#tokens = 0;
    this.#lastOutputMs = this.#clock.elapsedMs();
  }

  /** Call when the output was raised to the provider's count of a turn that has ended. */
  noteCounted({ bytes }: StreamProgress['output']): void {
    this.#countedBytes = bytes;
  }

  /** Excludes time in which a tool of ours runs, also while it does. */
  async ownWait<T>(work: Promise<T>): Promise<T> {
    this.#isPaused = true;
    try {
      return await work;
    } finally {
      this.#isPaused = false;
      this.noteOwnWait();
    }
  }

  /** Excludes time in which we did not read: the client had no room, or the hold had to grow. */
  noteOwnWait(): void {
    this.#lastOutputMs = this.#clock.elapsedMs();
    this.#shown = null;
  }

  /**
   * True while nobody can see what the model does: before a stream's first event, and in a silence
   * in which it may be thinking or writing a call.
   */
  get isHidden(): boolean {
    return this.#isRunning && (!this.hasBegun || this.#isSilence(this.silentMs));
  }

  /** Output of one choice and the time it took, to measure the route's speed; null: unknown. */
  get written(): Writing | null {
    const { unseen, choices } = this.#options;
    if (unseen !== 'all') return this.#shown;
    return {
      tokens: this.#countedTokens / choices,
      ms: this.#clock.elapsedMs() - this.#startedAtMs,
    };
  }

  /** The provider's last count of all choices, and the bytes of output that had come with it. */
  get counted(): { readonly tokens: number; readonly bytes: number } {
    return { tokens: this.#countedTokens, bytes: this.#countedBytes };
  }

  /** The time since the last output, or since we could read again. */
  get silentMs(): number {
    return this.#isPaused ? 0 : this.#clock.elapsedMs() - this.#lastOutputMs;
  }

  end(): void {
    this.#tokens = this.tokens;
    this.#isRunning = false;
  }

  /** Tokens of each choice that may have been generated unseen since the call began. */
  get tokens(): number {
    return this.#tokens + (this.#isRunning ? this.#tokensIn(this.silentMs) : 0);
  }

  #endSilence(shownTokens: number): void {
    const pauseMs = this.silentMs;
    this.#tokens += Math.max(this.#tokensIn(pauseMs) - shownTokens, 0);
    if (this.#shown && !this.#isSilence(pauseMs)) {
      const { tokens, ms } = this.#shown;
      this.#shown = { tokens: tokens + shownTokens, ms: ms + pauseMs };
    }
    this.#lastOutputMs = this.#clock.elapsedMs();
  }

  #tokensIn(pauseMs: number): number {
    if (!this.#isSilence(pauseMs)) return 0;
    return (pauseMs / 1_000) * this.#options.tokensPerSecond;
  }

  #isSilence(pauseMs: number): boolean {
    const { unseen } = this.#options;
    return unseen === 'all' || (unseen === 'parts' && pauseMs > silenceMsMin);
  }
}
