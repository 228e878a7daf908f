// Writes canonical events as a stream of chunks. The last one, with the finish reason and the usage, is
// held back for `close`.
import type { ApiError, ErrorContext } from '../../canonical/errors.ts';
import type { StreamEvent } from '../../canonical/event.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { AnswerContext, StreamPipe } from '../format.ts';
import { AnswerStream } from '../answer-stream.ts';
import { withLimit } from '../with-limit.ts';
import { writeError } from './errors.ts';
import { frame } from './frame.ts';
import { writeStop } from './stop.ts';
import { writeUsage } from './usage.ts';
import { emptyPart, writeChunk } from './write-answer.ts';
import { PartWriter } from './write-parts.ts';

export function writeStream(context: AnswerContext): StreamPipe<StreamEvent> {
  return withLimit(new ChunkWriter(context));
}

class ChunkWriter extends AnswerStream {
  readonly #parts: PartWriter;
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
    const parts = this.#lastParts.length > 0 ? this.#lastParts : [emptyPart];
    return frame({
      ...writeChunk(parts, this.context, ending),
      usageMetadata: { ...writeUsage(this.counted()), cost: costUsd },
    });
  }

  fail(error: ApiError, asked: ErrorContext): string {
    return frame(writeError(error, asked));
  }

  /** Returns the parts to send now. */
  #read(event: StreamEvent): JsonObject[] {
    switch (event.type) {
      case 'start':
        this.noteUsage(event.usage);
        return [];
      case 'finish':
        this.#lastParts = this.#parts.end();
        this.finish(event);
        return [];
      case 'error':
        this.breakOff(event.failure);
        return [];
      default:
        return this.#parts.write(event);
    }
  }
}
