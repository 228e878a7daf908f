// Canonical events to the events of a Messages stream. Whatever comes in, blocks go out one after the other, numbered without gaps.
import type { StreamEvent, Stop } from '../../canonical/event.ts';
import type { Usage } from '../../canonical/usage.ts';
import { countUsage, mergeUsage } from '../../canonical/usage.ts';
import { formatSse } from '../../lib/sse.ts';
import type { AnswerContext, JsonObject, StreamPipe, StreamProgress } from '../format.ts';
import { withLimit } from '../with-limit.ts';
import { writeCitation } from './citations.ts';
import { writeError } from './errors.ts';
import { sealSignature } from './signature.ts';
import { writeStop } from './stop.ts';
import { brokenStream, newProgress } from '../stream-progress.ts';
import { writeEstimatedUsage, writeMessageUsage, writeUsage } from './usage.ts';
import { callBlock, messageHead } from './write-answer.ts';

/** A stream from canonical events. The last event, `message_stop`, is kept back for `close`. */
export function writeStream(context: AnswerContext): StreamPipe<StreamEvent> {
  const writer = new MessageStreamWriter(context);
  return withLimit({
    push: (event) => writer.push(event),
    end: () => writer.end(),
    close: (comment) => closeFrames(comment, frame('message_stop', {})),
    fail: (error, requestId) => formatSse('error', JSON.stringify(writeError(error, requestId))),
    progress: writer.progress,
  });
}

/** The comment is an SSE line of its own: the blank line after it keeps it apart from the last event. */
export function closeFrames(comment: string, lastFrame: string): string {
  return comment === '' ? lastFrame : `${comment}\n\n${lastFrame}`;
}

type BlockKind = 'text' | 'thinking' | 'tool-call';

class MessageStreamWriter {
  readonly progress: StreamProgress = newProgress();
  readonly #context: AnswerContext;
  #hasStarted = false;
  #hasRefusal = false;
  #index = -1;
  /** `hidden`: reasoning whose block can only be written when its signature has come. */
  #open: BlockKind | 'hidden' | null = null;

  constructor(context: AnswerContext) {
    this.#context = context;
  }

  push(event: StreamEvent): string {
    if (this.progress.status !== 'running') return '';
    this.progress.output.addEvent(event);
    switch (event.type) {
      case 'start':
        this.progress.usage = mergeUsage(this.progress.usage, event.usage);
        return this.#start(event.usage);
      case 'text-start':
        return this.#openText();
      case 'refusal-start':
        this.#hasRefusal = true;
        return this.#openText();
      case 'text-delta':
      case 'refusal-delta':
        this.#hasRefusal ||= event.type === 'refusal-delta';
        return this.#writeText(event.text);
      case 'thinking-start':
        return event.redacted ? this.#openHidden() : this.#openThinking();
      case 'thinking-delta':
        return this.#writeThinking(event.text);
      case 'thinking-signature':
        return this.#writeSignature(sealSignature(event.signature));
      case 'tool-call-start':
        return this.#openBlock('tool-call', callBlock(event.id, event.name, {}));
      case 'tool-call-delta':
        return this.#open === 'tool-call' ? this.#writeDelta({ type: 'input_json_delta', partial_json: event.text }) : '';
      case 'citation':
        return this.#open === 'text'
          ? this.#writeDelta({ type: 'citations_delta', citation: writeCitation(event.citation) })
          : '';
      case 'text-end':
      case 'refusal-end':
      case 'thinking-end':
      case 'tool-call-end':
        return this.#close();
      case 'finish':
        return this.#finish(event.stop, event.usage);
      case 'error':
        this.progress.status = 'failed';
        this.progress.failure = event.failure;
        return '';
    }
  }

  end(): string {
    if (this.progress.status === 'running') {
      this.progress.status = 'failed';
      this.progress.failure = brokenStream();
    }
    return '';
  }

  /** Context meters read the input from here, so our estimate stands in where the upstream has not counted yet. */
  #start(usage: Usage | null): string {
    if (this.#hasStarted) return '';
    this.#hasStarted = true;
    const message = {
      ...messageHead(this.#context),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      usage: usage ? writeMessageUsage(usage) : writeEstimatedUsage(this.#context.estimatedInputTokens),
    };
    return frame('message_start', { message });
  }

  #openText(): string {
    return this.#openBlock('text', { type: 'text', text: '' });
  }

  #openThinking(): string {
    return this.#openBlock('thinking', { type: 'thinking', thinking: '', signature: '' });
  }

  #openHidden(): string {
    const frames = this.#start(null) + this.#close();
    this.#open = 'hidden';
    return frames;
  }

  #openBlock(kind: BlockKind, block: JsonObject): string {
    const frames = this.#start(null) + this.#close();
    this.#open = kind;
    this.#index++;
    return frames + frame('content_block_start', { index: this.#index, content_block: block });
  }

  #writeText(text: string): string {
    const frames = this.#open === 'text' ? '' : this.#openText();
    return frames + this.#writeDelta({ type: 'text_delta', text });
  }

  #writeThinking(text: string): string {
    if (this.#open === 'hidden') return '';
    const frames = this.#open === 'thinking' ? '' : this.#openThinking();
    return frames + this.#writeDelta({ type: 'thinking_delta', thinking: text });
  }

  #writeSignature(sealed: string): string {
    if (this.#open === 'hidden') return this.#openBlock('thinking', { type: 'redacted_thinking', data: sealed }) + this.#close();
    return this.#open === 'thinking' ? this.#writeDelta({ type: 'signature_delta', signature: sealed }) : '';
  }

  #writeDelta(delta: JsonObject): string {
    return frame('content_block_delta', { index: this.#index, delta });
  }

  #close(): string {
    const isOpen = this.#open !== null && this.#open !== 'hidden';
    this.#open = null;
    return isOpen ? frame('content_block_stop', { index: this.#index }) : '';
  }

  #finish(stop: Stop, usage: Usage | null): string {
    const frames = this.#start(null) + this.#close();
    this.progress.status = 'finished';
    this.progress.stop = stop;
    this.progress.usage = mergeUsage(this.progress.usage, usage);
    const counted = countUsage(this.progress.usage, { ...this.#context, outputBytes: this.progress.output.bytes });
    return (
      frames +
      frame('message_delta', { delta: { ...writeStop(stop, this.#hasRefusal), container: null }, usage: writeUsage(counted) })
    );
  }
}

function frame(type: string, fields: JsonObject): string {
  return formatSse(type, JSON.stringify({ type, ...fields }));
}
