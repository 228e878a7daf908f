// Writes canonical events as a stream of chunks. The last one, with the finish reason and the usage, is
// held back for `close`. Calls are sent whole, as Gemini's are.
import type { ApiError, ErrorContext } from '../../canonical/errors.ts';
import type { StreamEvent } from '../../canonical/event.ts';
import type { ThinkingPart } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { AnswerContext, StreamPipe } from '../format.ts';
import { AnswerStream } from '../answer-stream.ts';
import { withLimit } from '../with-limit.ts';
import { writeError } from './errors.ts';
import { frame } from './frame.ts';
import { writeStop } from './stop.ts';
import { writeUsage } from './usage.ts';
import { writeChunk } from './write-answer.ts';
import { PartWriter } from './write-parts.ts';

export function writeStream(context: AnswerContext): StreamPipe<StreamEvent> {
  return withLimit(new ChunkWriter(context));
}

type OpenCall = { readonly id: string; readonly name: string; text: string };

class ChunkWriter extends AnswerStream {
  readonly #parts: PartWriter;
  #call: OpenCall | null = null;
  #thinking: ThinkingPart | null = null;
  /** The parts that the last chunk sends. */
  #lastParts: readonly JsonObject[] = [];

  constructor(context: AnswerContext) {
    super(context);
    this.#parts = new PartWriter(context.request);
  }

  push(event: StreamEvent): string {
    if (this.progress.status !== 'running') return '';
    this.progress.output.addEvent(event);
    const parts = this.#read(event);
    return parts.length === 0 ? '' : frame(writeChunk(parts, this.context));
  }

  close(costUsd: number): string {
    const finishReason = writeStop(this.progress.stop!, this.#parts.hasRefusal);
    const ending = { finishReason, ...this.#parts.sources.write() };
    return frame({
      ...writeChunk(this.#lastParts, this.context, ending),
      usageMetadata: { ...writeUsage(this.counted()), cost: costUsd },
    });
  }

  fail(error: ApiError, asked: ErrorContext): string {
    return frame(writeError(error, asked));
  }

  /** Returns the parts to send now. */
  #read(event: StreamEvent): JsonObject[] {
    const writer = this.#parts;
    switch (event.type) {
      case 'start':
        this.noteUsage(event.usage);
        return [];
      case 'text-start':
        writer.sources.beginBlock();
        return [];
      case 'text-delta':
      case 'refusal-delta':
        return writer.text(event.text);
      case 'refusal-start':
        writer.hasRefusal = true;
        writer.sources.beginBlock();
        return [];
      case 'citation':
        writer.sources.add(event.citation);
        return [];
      case 'thinking-start':
        this.#thinking = { type: 'thinking', text: '', signature: null, redacted: event.redacted };
        return [];
      case 'thinking-delta':
        if (this.#thinking)
          this.#thinking = { ...this.#thinking, text: this.#thinking.text + event.text };
        return writer.thought(event.text);
      case 'thinking-signature':
        if (this.#thinking) this.#thinking = { ...this.#thinking, signature: event.signature };
        return [];
      case 'thinking-end': {
        const thinking = this.#thinking;
        this.#thinking = null;
        return thinking ? writer.endThought(thinking) : [];
      }
      case 'tool-call-start':
        this.#call = { id: event.id, name: event.name, text: '' };
        return [];
      case 'tool-call-delta':
        if (this.#call) this.#call.text += event.text;
        return [];
      case 'tool-call-end': {
        const call = this.#call;
        this.#call = null;
        return call ? writer.call(call.id, call.name, call.text) : [];
      }
      case 'image':
        return writer.image(event);
      case 'finish':
        this.#lastParts = writer.end();
        this.finish(event);
        return [];
      case 'error':
        this.breakOff(event.failure);
        return [];
      case 'text-end':
      case 'refusal-end':
      case 'search-start':
      case 'search':
      case 'drawing-start':
      case 'drawing':
        return [];
    }
  }
}
