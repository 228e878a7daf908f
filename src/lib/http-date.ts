import { systemClock } from './clock.ts';

/** The present second as a `Date` header tells it, written once a second. https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7 */
export class HttpDate {
  #second = NaN;
  #text = '';

  now(nowMs = systemClock.nowMs()): string {
    const second = Math.floor(nowMs / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#text = new Date(second * 1_000).toUTCString();
    }
    return this.#text;
  }
}
