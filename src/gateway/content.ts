// Records what a request asks and what its client is answered, for the traces of an account that has
// asked for it. It reads what the client gets, so it is the same for every way to an answer: straight
// or translated, whole or streamed, new, cached or replayed.
import { AnswerCollector } from '../canonical/answer.ts';
import type { StreamEvent } from '../canonical/event.ts';
import type { RequestSpans } from '../events/request-spans.ts';
import { type Answered, contentCharactersMax, writeContent } from '../domain/telemetry/content.ts';
import type { AnswerReader, StreamReader } from '../formats/format.ts';
import { SseParser, type SseEvent } from '../lib/sse.ts';
import { observeAnswer, type Client } from './client.ts';
import type { Sale } from './stages.ts';

/** Returns the client to answer. */
export function recordContent(spans: RequestSpans, { content }: Sale, client: Client): Client {
  const { asked, answerFormat } = content;
  let readAnswered: () => Answered | null = () => null;
  spans.readContent = () => writeContent(asked(), readAnswered());
  if (!answerFormat) return client;
  return observeAnswer(client, {
    onAnswer(body) {
      readAnswered = () => readWhole(answerFormat, body);
    },
    onStream() {
      const reading = new StreamReading(answerFormat);
      readAnswered = () => reading.answered();
      return (frames) => reading.push(frames);
    },
  });
}

const unread: Answered = { content: [], stop: null, isCut: true };

function readWhole(format: AnswerReader, body: string | Buffer): Answered {
  try {
    const { content, stop } = format.readAnswer(JSON.parse(body.toString()));
    return { content, stop: stop.reason, isCut: false };
  } catch {
    // Several answers in one, or one with fields that only the straight path passes.
    return unread;
  }
}

/** Reads a stream as it is sent, and keeps no more of it than a span may have. */
class StreamReading {
  readonly #readFrames: (frames: string | Buffer) => readonly SseEvent[];
  readonly #reader: StreamReader;
  readonly #collector = new AnswerCollector();
  #characters = 0;
  #isCut = false;

  constructor(format: AnswerReader) {
    const { readFrames } = format;
    const parser = new SseParser();
    this.#readFrames = readFrames
      ? (frames) => readFrames(frames.toString())
      : (frames) => parser.push(typeof frames === 'string' ? Buffer.from(frames) : frames);
    this.#reader = format.readStream();
  }

  push(frames: string | Buffer): void {
    if (this.#isCut) return;
    try {
      for (const event of this.#readFrames(frames)) this.#reader.push(event).forEach(this.#collect);
    } catch {
      this.#isCut = true;
    }
  }

  answered(): Answered {
    // Nothing marks the last chunk of Gemini's streams.
    if (!this.#isCut) this.#reader.end().forEach(this.#collect);
    const { content, answer } = this.#collector;
    return { content, stop: answer?.stop.reason ?? null, isCut: this.#isCut };
  }

  readonly #collect = (event: StreamEvent): void => {
    if ('text' in event) this.#characters += event.text.length;
    this.#isCut ||= this.#characters > contentCharactersMax;
    this.#collector.push(event);
  };
}
