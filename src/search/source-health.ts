// A short memory of which sources failed, so that a dead one does not slow every search down. One that failed rests: it is asked after
// all others. When its rest is over, one search tries it again first; the others wait for how that ends.
import type { UpstreamFailure } from '../canonical/event.ts';

const restMsMin = 2_000;
const restMsMax = 60_000;
const askedRestMsMax = 300_000;

type Rest = { readonly restMs: number; readonly untilMs: number };

export class SourceHealth {
  readonly #rests = new Map<string, Rest>();

  /** Who rests goes to the end; each part keeps its order. Whoever's rest is over is claimed for one try by this. */
  inOrder<Source extends { readonly name: string }>(sources: readonly Source[], nowMs: number): Source[] {
    const rested = sources.map(({ name }) => this.#rests.get(name)).map((rest) => !rest || rest.untilMs <= nowMs);
    const first = sources.filter((_source, index) => rested[index]);
    const [next] = first;
    if (next) this.#claim(next.name, nowMs);
    return [...first, ...sources.filter((_source, index) => !rested[index])];
  }

  noteSuccess(name: string): void {
    this.#rests.delete(name);
  }

  /** Each failure in a row doubles the rest, unless the source says itself how long it wants to be left alone. */
  noteFailure(name: string, { retryAfterSeconds }: UpstreamFailure, nowMs: number): void {
    const before = this.#rests.get(name)?.restMs ?? restMsMin / 2;
    const restMs = Math.min(before * 2, restMsMax);
    const askedMs = Math.min((retryAfterSeconds ?? 0) * 1_000, askedRestMsMax);
    this.#rests.set(name, { restMs, untilMs: nowMs + Math.max(restMs, askedMs) });
  }

  #claim(name: string, nowMs: number): void {
    const rest = this.#rests.get(name);
    if (rest) this.#rests.set(name, { ...rest, untilMs: nowMs + rest.restMs });
  }
}
