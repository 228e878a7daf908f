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
  readonly #charactersMax: number;
  /** The incomplete last line. */
  #rest = '';
  #atStart = true;
  /** The last character was a carriage return; a following line feed belongs to it. */
  #afterReturn = false;
  #event = '';
  #data: string | null = null;

  /** `charactersMax`: of one event. */
  constructor(charactersMax = eventCharactersMax) {
    this.#charactersMax = charactersMax;
  }

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
    if (this.#rest !== '') this.#readRest(this.#rest, events);
    this.#endEvent(events);
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
      if (this.#rest === '') this.#readLine(text, start, end, events);
      else this.#readRest(this.#rest + text.slice(start, end), events);
      start = end + 1;
      if (text[end] === '\r') {
        if (start === text.length) this.#afterReturn = true;
        else if (text[start] === '\n') start++;
      }
    }
    if (start < text.length) this.#rest += text.slice(start);
    if (this.#rest.length + (this.#data?.length ?? 0) > this.#charactersMax) {
      throw new SseOverflow(`an event of the stream is over ${this.#charactersMax} characters`);
    }
    return events;
  }

  /** Reads a line that began in an earlier piece. */
  #readRest(line: string, events: SseEvent[]): void {
    this.#rest = '';
    this.#readLine(line, 0, line.length, events);
  }

  #readLine(text: string, start: number, end: number, events: SseEvent[]): void {
    if (start === end) this.#endEvent(events);
    else if (text.startsWith('data:', start)) this.#addData(valueOf(text, start + 5, end));
    else if (text.startsWith('event:', start)) this.#event = valueOf(text, start + 6, end);
    else if (end - start === 4 && text.startsWith('data', start)) this.#addData('');
  }

  #addData(value: string): void {
    this.#data = this.#data === null ? value : `${this.#data}\n${value}`;
  }

  #endEvent(events: SseEvent[]): void {
    if (this.#data) events.push({ event: this.#event, data: this.#data });
    this.#event = '';
    this.#data = null;
  }
}

/** Returns what follows a field's colon: one space does not belong to the value. */
function valueOf(text: string, start: number, end: number): string {
  return text.slice(start < end && text[start] === ' ' ? start + 1 : start, end);
}

const lineEnd = /[\r\n]/g;

/** Two searches would be quadratic: each would run past all line ends of the other kind. */
function indexOfLineEnd(text: string, start: number): number {
  lineEnd.lastIndex = start;
  return lineEnd.exec(text)?.index ?? -1;
}

/** Formats one event. `data` must be a single line, which JSON always is. */
export function formatSse(event: string | null, data: string): string {
  return event === null ? `data: ${data}\n\n` : `event: ${event}\ndata: ${data}\n\n`;
}
