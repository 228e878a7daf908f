// Server-sent events, parsing and formatting. The parser gives the same events for any split of the
// bytes, and bounds its buffer.
// https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
import { StringDecoder } from 'node:string_decoder';

export type SseEvent = {
  /** The `event:` line; '' when there was none. */
  readonly event: string;
  /** The `data:` lines joined with a newline. */
  readonly data: string;
};

/** Thrown when one event exceeds the bound, for example in a stream without line ends. */
export class SseOverflow extends Error {}

const eventCharactersMax = 32 * 1024 * 1024;

/** Parses a byte stream into events. Drops comments, ids, retry hints, and events without data. */
export class SseParser {
  readonly #decoder = new StringDecoder('utf8');
  /** The incomplete last line. */
  #rest = '';
  #atStart = true;
  /** The last character was a carriage return; a following line feed belongs to it. */
  #afterReturn = false;
  #event = '';
  #data: string | null = null;

  /** Returns the events completed by these bytes. */
  push(bytes: Uint8Array): SseEvent[] {
    return this.#read(this.#decoder.write(bytes));
  }

  /**
   * Ends the stream. An event that lacks only its blank line is returned, because some hosts omit
   * it.
   */
  end(): SseEvent[] {
    const events = this.#read(this.#decoder.end());
    if (this.#rest !== '') this.#readLine(this.#rest, events);
    this.#rest = '';
    this.#readLine('', events);
    return events;
  }

  #read(text: string): SseEvent[] {
    const events: SseEvent[] = [];
    if (text === '') return events;
    let start = 0;
    if (this.#atStart) {
      this.#atStart = false;
      if (text.charCodeAt(0) === 0xfeff) start = 1;
    }
    if (this.#afterReturn && text[start] === '\n') start++;
    this.#afterReturn = false;
    // Most streams contain no carriage returns, so they are searched for once per chunk, not once
    // per line.
    const hasReturns = text.includes('\r', start);
    for (;;) {
      const end = hasReturns ? indexOfLineEnd(text, start) : text.indexOf('\n', start);
      if (end === -1) break;
      const line = text.slice(start, end);
      this.#readLine(this.#rest === '' ? line : this.#rest + line, events);
      this.#rest = '';
      start = end + 1;
      if (text[end] === '\r') {
        if (start === text.length) this.#afterReturn = true;
        else if (text[start] === '\n') start++;
      }
    }
    if (start < text.length) this.#rest += text.slice(start);
    if (this.#rest.length + (this.#data?.length ?? 0) > eventCharactersMax) {
      throw new SseOverflow(`an event of the stream is over ${eventCharactersMax} characters`);
    }
    return events;
  }

  #readLine(line: string, events: SseEvent[]): void {
    if (line === '') {
      if (this.#data !== null) events.push({ event: this.#event, data: this.#data });
      this.#event = '';
      this.#data = null;
      return;
    }
    if (line.startsWith('data:')) {
      const value = line.slice(line[5] === ' ' ? 6 : 5);
      this.#data = this.#data === null ? value : `${this.#data}\n${value}`;
    } else if (line.startsWith('event:')) {
      this.#event = line.slice(line[6] === ' ' ? 7 : 6);
    } else if (line === 'data') {
      this.#data = this.#data === null ? '' : `${this.#data}\n`;
    }
  }
}

function indexOfLineEnd(text: string, start: number): number {
  const feed = text.indexOf('\n', start);
  const carriage = text.indexOf('\r', start);
  if (feed === -1 || carriage === -1) return Math.max(feed, carriage);
  return Math.min(feed, carriage);
}

/** Formats one event. `data` must be a single line, which JSON always is. */
export function formatSse(event: string | null, data: string): string {
  return event === null ? `data: ${data}\n\n` : `event: ${event}\ndata: ${data}\n\n`;
}
