// Writes canonical events as chunks. The frames around a delta never change, so they are built
// once.
import type { ApiError, ErrorContext } from '../../canonical/errors.ts';
import type { StreamEvent } from '../../canonical/event.ts';
import type { Citation } from '../../canonical/citation.ts';
import type { ThinkingPart } from '../../canonical/request.ts';
import { formatSse } from '../../lib/sse.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { AnswerContext, StreamPipe } from '../format.ts';
import { AnswerStream } from '../answer-stream.ts';
import { withLimit } from '../with-limit.ts';
import { writeError } from './errors.ts';
import { writeAnnotation } from './citations.ts';
import { signedCall, writeCallSignature } from './call-signatures.ts';
import { writeImages } from './images.ts';
import { writeDetail } from './reasoning.ts';
import { writeFinishReason } from './stop.ts';
import type { ThinkingPlace } from './thinking-places.ts';
import { wantsStreamUsage, writeUsage } from './usage.ts';
import { completionHead, writeTier } from './write-answer.ts';

export function writeStream(context: AnswerContext): StreamPipe<StreamEvent> {
  return withLimit(new ChatStreamWriter(context));
}

export const doneFrame = formatSse(null, '[DONE]');

export function chunkHead(context: AnswerContext): JsonObject {
  return completionHead(context, 'chat.completion.chunk');
}

class ChatStreamWriter extends AnswerStream {
  readonly #wantsUsage: boolean;
  /** The text of a chunk up to its delta, and after it. */
  readonly #head: string;
  readonly #tail: string;
  #toolCalls = 0;
  #toolKind: 'function' | 'custom' = 'function';
  #thinkingBlocks = 0;
  /** The streaming block of reasoning, kept for its signature. */
  #thinking: ThinkingPart = noThinking;
  #thinkingPlace: ThinkingPlace = { textLength: 0, calls: 0 };
  /** Signatures by call id. */
  readonly #callSignatures = new Map<string, string>();
  #hasRefusal = false;
  #text = { blockStart: 0, length: 0 };
  #citations: Citation[] = [];

  constructor(context: AnswerContext) {
    super(context);
    this.#wantsUsage = wantsStreamUsage(context.request);
    this.#head = `${JSON.stringify(chunkHead(context)).slice(0, -1)},"choices":[{"index":0,"delta":`;
    this.#tail = `}]${this.#wantsUsage ? ',"usage":null' : ''}}`;
  }

  push(event: StreamEvent): string {
    if (this.progress.status !== 'running') return '';
    this.progress.output.addEvent(event);
    switch (event.type) {
      case 'start':
        this.noteUsage(event.usage);
        return this.#write({ role: 'assistant', content: '' });
      case 'text-delta':
        this.#text.length += event.text.length;
        return this.#write({ content: event.text });
      case 'citation':
        this.#citations.push(event.citation);
        return '';
      case 'text-end':
        return this.#endText();
      case 'refusal-delta':
        this.#hasRefusal = true;
        return this.#write({ refusal: event.text });
      case 'thinking-start':
        this.#thinking = { ...noThinking, redacted: event.redacted };
        this.#thinkingPlace = {
          textLength: this.#text.blockStart + this.#text.length,
          calls: this.#toolCalls,
        };
        return '';
      case 'thinking-delta':
        this.#thinking = { ...this.#thinking, text: this.#thinking.text + event.text };
        return this.#write({ reasoning_content: event.text });
      case 'thinking-signature':
        this.#thinking = { ...this.#thinking, signature: event.signature };
        for (const [callId, value] of signedCall(event.signature))
          this.#callSignatures.set(callId, value);
        return '';
      case 'thinking-end':
        return this.#writeSignature();
      case 'tool-call-start':
        return this.#writeToolCallStart(event);
      case 'tool-call-delta':
        return this.#write(this.#toolCallDelta({ [argumentsField[this.#toolKind]]: event.text }));
      case 'image':
        return this.#write(writeImages([event.source]));
      case 'finish':
        this.finish(event);
        return this.#write({}, writeFinishReason(event.stop, { hasRefusal: this.#hasRefusal }));
      case 'error':
        return this.breakOff(event.failure);
      default:
        // Chat does not mark the start and end of other blocks.
        return '';
    }
  }

  close(costUsd: number): string {
    return this.#wantsUsage ? this.#writeUsage(costUsd) + doneFrame : doneFrame;
  }

  fail(error: ApiError, asked: ErrorContext): string {
    return formatSse(null, JSON.stringify(writeError(error, asked)));
  }

  #write(delta: JsonObject, finishReason: string | null = null): string {
    const reason = finishReason === null ? 'null' : JSON.stringify(finishReason);
    return formatSse(
      null,
      `${this.#head}${JSON.stringify(delta)},"logprobs":null,"finish_reason":${reason}${this.#tail}`,
    );
  }

  /** Writes the citations of a whole text, whose spans are known only now. */
  #endText(): string {
    const annotations = this.#citations
      .splice(0)
      .flatMap((citation) => writeAnnotation(citation, this.#text));
    this.#text = { blockStart: this.#text.blockStart + this.#text.length, length: 0 };
    return annotations.length === 0 ? '' : this.#write({ annotations });
  }

  #writeSignature(): string {
    const index = this.#thinkingBlocks++;
    if (!this.#thinking.signature) return '';
    return this.#write({
      reasoning_details: [writeDetail({ part: this.#thinking, place: this.#thinkingPlace }, index)],
    });
  }

  #writeToolCallStart({
    id,
    name,
    kind,
  }: Extract<StreamEvent, { type: 'tool-call-start' }>): string {
    this.#toolKind = kind;
    const called = { name, [argumentsField[kind]]: '' };
    const call = {
      index: this.#toolCalls++,
      id,
      type: kind,
      [kind]: called,
      ...writeCallSignature(this.#callSignatures.get(id)),
    };
    return this.#write({ tool_calls: [call] });
  }

  #toolCallDelta(called: JsonObject): JsonObject {
    return { tool_calls: [{ index: this.#toolCalls - 1, [this.#toolKind]: called }] };
  }

  #writeUsage(costUsd: number): string {
    const counted = this.counted();
    const written = { ...writeUsage(counted), cost: costUsd };
    const tier = writeTier(counted, this.context);
    return formatSse(
      null,
      JSON.stringify({ ...chunkHead(this.context), choices: [], ...tier, usage: written }),
    );
  }
}

const noThinking: ThinkingPart = { type: 'thinking', text: '', signature: null, redacted: false };
const argumentsField = { function: 'arguments', custom: 'input' } as const;
