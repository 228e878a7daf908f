// Writes canonical events as a Responses stream. Consecutive text blocks share one message item, as
// in a whole answer. So an item is closed only when the next one starts or the answer ends, when
// its status is known.
import { AnswerCollector } from '../../canonical/answer.ts';
import type { ApiError, ErrorContext } from '../../canonical/errors.ts';
import type { StreamEvent } from '../../canonical/event.ts';
import type { JsonObject } from '../../lib/json.ts';
import { AnswerStream } from '../answer-stream.ts';
import type { AnswerContext, StreamPipe } from '../format.ts';
import { withLimit } from '../with-limit.ts';
import { asksForCompaction } from './compaction.ts';
import { writeFailure } from './errors.ts';
import { emptyReasoningItem, wantsReasoningItem, type ItemStatus } from './output-item.ts';
import { completionTime, inProgress, writeResponse } from './response-body.ts';
import { type EndStatus, writeStop } from './stop.ts';
import { writeEvent } from './stream-event.ts';
import { shownTier } from '../service-tiers.ts';
import { writeUsage } from './usage.ts';
import { writeCompaction } from './write-answer.ts';
import { createItem, type BlockStart, type ItemWriter } from './write-stream-item.ts';

/** The last event, `response.completed` or `response.incomplete`, is held back for `close`. */
export function writeStream(context: AnswerContext): StreamPipe<StreamEvent> {
  return withLimit(new ResponseStreamWriter(context));
}

type FinishEvent = Extract<StreamEvent, { type: 'finish' }>;
class ResponseStreamWriter extends AnswerStream {
  readonly #output: JsonObject[] = [];
  #open: ItemWriter | null = null;
  #sequence = 0;
  #hasStarted = false;
  #hasRefusal = false;
  /** Collects the summary of a compaction, whose item comes whole; null: it is none. */
  readonly #summary: AnswerCollector | null;
  #completedAtSeconds = 0;

  constructor(context: AnswerContext) {
    super(context);
    this.#summary = asksForCompaction(context.request.body) ? new AnswerCollector() : null;
  }

  push(event: StreamEvent): string {
    if (this.progress.status !== 'running') return '';
    switch (event.type) {
      case 'start':
        this.noteUsage(event.usage);
        return this.#start();
      case 'finish':
        return this.#finishItems(event);
      case 'error':
        return this.breakOff(event.failure);
    }
    if (this.#summary) {
      this.#summary.push(event);
      this.progress.output.addEvent(event);
      return this.#start();
    }
    switch (event.type) {
      case 'text-start':
      case 'refusal-start':
        this.#hasRefusal ||= event.type === 'refusal-start';
        return (this.#open?.isMessage ? '' : this.#openItem(event)) + this.#write(event);
      case 'thinking-start':
      case 'tool-call-start':
      case 'image':
        this.progress.output.addEvent(event);
        return this.#openItem(event);
      case 'search-start':
      case 'drawing-start':
        return this.#openItem(event) + this.#write(event);
      case 'search':
      case 'drawing':
        return this.#write(event) + this.#closeItem('completed');
      default:
        return this.#write(event);
    }
  }

  close(costUsd: number): string {
    const end = writeStop(this.progress.stop!, this.#hasRefusal);
    const counted = this.counted();
    const usage = { ...writeUsage(counted), cost: costUsd };
    const response = writeResponse(this.context, {
      ...end,
      output: this.#output,
      usage,
      tier: shownTier(counted, this.context.request),
      completedAtSeconds: this.#completedAtSeconds,
    });
    // Does not advance the sequence: `fail` may send another event instead.
    return writeEvent(`response.${end.status}`, this.#sequence, { response });
  }

  fail(error: ApiError, context: ErrorContext): string {
    const begin = this.#start();
    const response = writeResponse(this.context, { ...inProgress, output: this.#output });
    return begin + writeFailure({ error, context, response, sequence: this.#sequence });
  }

  #start(): string {
    if (this.#hasStarted) return '';
    this.#hasStarted = true;
    const response = writeResponse(this.context, inProgress);
    return (
      this.#event('response.created', { response }) +
      this.#event('response.in_progress', { response })
    );
  }

  /** Throws UnreadableAnswer when the model wrote no summary. */
  #finishItems(event: FinishEvent): string {
    const end = writeStop(event.stop, this.#hasRefusal);
    // Also when the summary is missing: the answer is billed.
    this.noteUsage(event.usage);
    const frames =
      this.#start() +
      this.#closeItem(end.status) +
      this.#insertReasoning() +
      this.#writeCompaction(end);
    this.#completedAtSeconds = completionTime(this.context);
    this.finish(event);
    return frames;
  }

  #writeCompaction(end: EndStatus): string {
    const items = this.#summary ? writeCompaction(this.#summary.content, end, this.context) : [];
    return items
      .map((item) => {
        const added = this.#event('response.output_item.added', { output_index: 0, item });
        return added + this.#doneItem(item);
      })
      .join('');
  }

  #openItem(event: BlockStart): string {
    let before = this.#start() + this.#closeItem('completed');
    if (event.type !== 'thinking-start') before += this.#insertReasoning();
    this.#open = createItem(event, this.context, this.#output.length);
    return (
      before +
      this.#event('response.output_item.added', {
        output_index: this.#output.length,
        item: this.#open.announced,
      })
    );
  }

  /**
   * Inserts a reasoning item before the first item when the client set an effort and the model does
   * not begin with reasoning.
   */
  #insertReasoning(): string {
    if (this.#output.length > 0 || !wantsReasoningItem(this.context.request)) return '';
    const item = emptyReasoningItem(this.context);
    return (
      this.#event('response.output_item.added', { output_index: 0, item }) + this.#doneItem(item)
    );
  }

  #closeItem(status: ItemStatus): string {
    const item = this.#open?.finish(status);
    this.#open = null;
    return item ? this.#doneItem(item) : '';
  }

  #doneItem(item: JsonObject): string {
    this.#output.push(item);
    return this.#event('response.output_item.done', {
      output_index: this.#output.length - 1,
      item,
    });
  }

  #write(event: StreamEvent): string {
    const open = this.#open;
    if (!open || isEmptyDelta(event)) return '';
    this.progress.output.addEvent(event);
    let frames = '';
    for (const [type, fields] of open.write(event)) {
      frames += this.#event(type, {
        item_id: open.id,
        output_index: this.#output.length,
        ...fields,
      });
    }
    return frames;
  }

  #event(type: string, fields: JsonObject): string {
    return writeEvent(type, this.#sequence++, fields);
  }
}

function isEmptyDelta(event: StreamEvent): boolean {
  return 'text' in event && event.text === '';
}
