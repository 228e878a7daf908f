// Reads an upstream's stream as canonical events. Blocks never overlap in Messages, so at most one
// is open; the next one closes it. Some hosts interleave blocks all the same: what belongs to others
// waits for the end of a call.
import { deltaOf, eventsOfPart } from '../../canonical/answer.ts';
import type { StreamEvent } from '../../canonical/event.ts';
import type { Stop } from '../../canonical/stop.ts';
import type { Usage } from '../../canonical/usage.ts';
import { append } from '../../lib/append.ts';
import { isObject, type JsonObject, objectOf, objectsOf, textOf } from '../../lib/json.ts';
import type { SseEvent } from '../../lib/sse.ts';
import { EventReader } from '../event-reader.ts';
import { LastEvent } from '../last-event.ts';
import { UnreadableAnswer, type StreamReader } from '../format.ts';
import { readFailure } from './errors.ts';
import { readCitation, readCitations } from './citations.ts';
import { openSignature } from './signature.ts';
import { readStop } from './stop.ts';
import { brokenStream, unreadableEvent, repeatedStart } from '../stream-progress.ts';
import { parseEvent, typeOf } from './stream-event.ts';
import { readInput } from './tool-input.ts';
import { StreamUsage } from './usage.ts';

export function readStream(): StreamReader {
  return new MessageStreamReader();
}

/** Returns the events of a whole message: its stream would begin with all of its blocks. */
export function readWhole(message: JsonObject): readonly StreamEvent[] {
  return new MessageStreamReader().readWhole(message);
}

/** `other`: blocks of tools that Anthropic runs. They are ignored. */
type OpenBlock =
  | { readonly kind: 'text' | 'other' }
  | { readonly kind: 'thinking'; signature: string }
  | {
      readonly kind: 'tool-call';
      readonly index: unknown;
      readonly wholeInput: string;
      hasDelta: boolean;
    };

class MessageStreamReader extends EventReader {
  readonly #usage = new StreamUsage();
  readonly #lastEvent = new LastEvent();
  #open: OpenBlock | null = null;
  /** Events of other blocks than the open call. */
  readonly #waiting: JsonObject[] = [];
  /** The indexes of the blocks that have started and not ended. */
  readonly #unended = new Set<unknown>();
  #stop: Stop | null = null;
  /** The explanation of a refusal. */
  #explanation: readonly StreamEvent[] = [];
  #hasStarted = false;
  #id: unknown = null;

  get usageSoFar(): Usage | null {
    return this.#usage.soFar;
  }

  get isComplete(): boolean {
    return this.#stop !== null;
  }

  protected read(raw: SseEvent): readonly StreamEvent[] {
    const isRepeated = this.#lastEvent.isRepeated(raw.data);
    const event = parseEvent(raw.data);
    if (event === 'terminator') return [];
    if (!event) return this.fail(unreadableEvent(raw.data));
    const type = typeOf(raw, event);
    if (isRepeated && type === 'content_block_start') return this.fail(repeatedStart());
    switch (type) {
      case 'message_start':
        return this.#readFirstStart(objectOf(event.message));
      case 'content_block_start':
      case 'content_block_delta':
      case 'content_block_stop':
        return this.#readInOrder(event.type === type ? event : { ...event, type });
      case 'message_delta':
        this.#readMessageDelta(event);
        return [];
      case 'message_stop':
        return this.#finish();
      case 'error':
        return this.fail(readFailure(event));
      default:
        // `ping`, and unknown events.
        return [];
    }
  }

  readWhole({ content, usage, ...ending }: JsonObject): StreamEvent[] {
    const started = this.#readStart({ content, usage });
    this.#readMessageDelta({ delta: ending, usage });
    return [...started, ...this.#finish()];
  }

  /**
   * A stream that sent its stop reason and usage lacks only its last event: the answer is complete
   * and is charged.
   */
  protected close(): readonly StreamEvent[] {
    return this.#stop ? this.#finish() : this.fail(brokenStream());
  }

  /** Returns the events, after the start of the stream if that is missing. */
  #started(events: StreamEvent[]): StreamEvent[] {
    if (this.#hasStarted) return events;
    this.#hasStarted = true;
    return [{ type: 'start', usage: this.#usage.soFar }, ...events];
  }

  /** Reads an event of a block, and those that have waited when it ends a call. */
  #readInOrder(event: JsonObject): StreamEvent[] {
    if (event.type === 'content_block_start') this.#unended.add(event.index);
    const events = this.#readUnlessWaiting(event);
    while (this.#waiting.length > 0 && this.#open?.kind !== 'tool-call')
      for (const waiting of this.#waiting.splice(0))
        append(events, this.#readUnlessWaiting(waiting));
    return events;
  }

  /** While a call is open, a new block waits, and what belongs to a block that has not ended. */
  #readUnlessWaiting(event: JsonObject): StreamEvent[] {
    const { type, index, content_block: block, delta: part } = event;
    const isOther = this.#open?.kind === 'tool-call' && this.#open.index !== index;
    if (isOther && this.#unended.has(index)) {
      this.#waiting.push(event);
      return [];
    }
    if (type === 'content_block_delta') return this.#started(this.#readDelta(objectOf(part)));
    const closed = this.#close();
    if (type === 'content_block_start')
      return this.#started([...closed, ...this.#openBlock(objectOf(block), index)]);
    this.#unended.delete(index);
    return closed;
  }

  /**
   * Some hosts send the event twice. Another answer is that of a host that lost its own upstream
   * (github.com/vercel/ai/pull/18332, read 2026-12-01).
   */
  #readFirstStart(message: JsonObject): readonly StreamEvent[] {
    const { id } = message;
    if (this.#hasStarted)
      return textOf(id) !== '' && id === this.#id ? [] : this.fail(repeatedStart());
    this.#id = id;
    return this.#readStart(message);
  }

  /** The message may hold whole blocks, as after calls that a program made. */
  #readStart({ usage, content }: JsonObject): StreamEvent[] {
    this.#usage.start(usage);
    const blocks = objectsOf(content);
    const events = blocks.flatMap((block) => [...this.#openBlock(block), ...this.#close()]);
    return this.#started(events);
  }

  /** Some hosts send a block's content in its start. */
  #openBlock(block: JsonObject, index: unknown = null): StreamEvent[] {
    switch (block.type) {
      case 'text':
        this.#open = { kind: 'text' };
        return [{ type: 'text-start' }, ...deltaOf(textOf(block.text)), ...citationsOf(block)];
      case 'thinking':
        this.#open = { kind: 'thinking', signature: textOf(block.signature) };
        return [
          { type: 'thinking-start', redacted: false },
          ...deltaOf(textOf(block.thinking), 'thinking-delta'),
        ];
      case 'redacted_thinking':
        this.#open = { kind: 'thinking', signature: textOf(block.data) };
        return [{ type: 'thinking-start', redacted: true }];
      case 'tool_use':
        this.#open = {
          kind: 'tool-call',
          index,
          wholeInput: readInput(block.input),
          hasDelta: false,
        };
        return [
          {
            type: 'tool-call-start',
            id: textOf(block.id),
            name: readCallName(block),
            kind: 'function',
          },
        ];
      default:
        this.#open = { kind: 'other' };
        return [];
    }
  }

  /** Text without a start opens its own block, so that no generated text is lost. */
  #readDelta(part: JsonObject): StreamEvent[] {
    switch (part.type) {
      case 'text_delta':
        return this.#inBlock('text', deltaOf(textOf(part.text)));
      case 'thinking_delta':
        return this.#inBlock('thinking', deltaOf(textOf(part.thinking), 'thinking-delta'));
      case 'signature_delta':
        if (this.#open?.kind === 'thinking') this.#open.signature += textOf(part.signature);
        return [];
      case 'input_json_delta':
        return this.#readInputDelta(textOf(part.partial_json));
      case 'citations_delta':
        return this.#readCitation(part.citation);
      default:
        return [];
    }
  }

  /** Only text can have citations. */
  #readCitation(value: unknown): StreamEvent[] {
    const citation = this.#open?.kind === 'text' ? readCitation(value) : null;
    return citation ? [{ type: 'citation', citation }] : [];
  }

  #readInputDelta(text: string): StreamEvent[] {
    if (this.#open?.kind !== 'tool-call' || text === '') return [];
    this.#open.hasDelta = true;
    return [{ type: 'tool-call-delta', text }];
  }

  /** Returns the events, after the start of their block if that is missing. */
  #inBlock(kind: 'text' | 'thinking', events: StreamEvent[]): StreamEvent[] {
    if (this.#open?.kind === kind) return events;
    return [...this.#close(), ...this.#openBlock({ type: kind }), ...events];
  }

  #close(): StreamEvent[] {
    const open = this.#open;
    this.#open = null;
    switch (open?.kind) {
      case 'text':
        return [{ type: 'text-end' }];
      case 'thinking':
        return [...readSignature(open.signature), { type: 'thinking-end' }];
      case 'tool-call':
        return [
          ...(open.hasDelta ? [] : deltaOf(open.wholeInput, 'tool-call-delta')),
          { type: 'tool-call-end' },
        ];
      default:
        return [];
    }
  }

  #readMessageDelta(event: JsonObject): void {
    this.#usage.update(event.usage);
    if (isObject(event.delta) && typeof event.delta.stop_reason === 'string') {
      this.#stop = readStop(event.delta.stop_reason, event.delta.stop_sequence);
      this.#explanation = explanationOf(event.delta.stop_details);
    }
  }

  #finish(): StreamEvent[] {
    this.hasEnded = true;
    const stop = this.#stop ?? { reason: 'end', sequence: null };
    const rest = this.#close();
    while (this.#waiting.length > 0) {
      for (const waiting of this.#waiting.splice(0)) append(rest, this.#readUnlessWaiting(waiting));
      append(rest, this.#close());
    }
    return this.#started([
      ...rest,
      ...this.#explanation,
      { type: 'finish', stop, usage: this.#usage.soFar },
    ]);
  }
}

function citationsOf({ citations }: JsonObject): StreamEvent[] {
  return (readCitations(citations).citations ?? []).map((citation) => ({
    type: 'citation',
    citation,
  }));
}

/**
 * Anthropic may explain a refusal beside the message. In other formats this becomes the text of the
 * refusal.
 */
function explanationOf(details: unknown): StreamEvent[] {
  const { type, explanation } = objectOf(details);
  const text = type === 'refusal' ? textOf(explanation) : '';
  return text === '' ? [] : [...eventsOfPart({ type: 'refusal', text })];
}

/** A call without a name cannot be run. */
function readCallName({ name }: JsonObject): string {
  if (typeof name === 'string' && name !== '') return name;
  throw new UnreadableAnswer('a tool call of the answer has no name');
}

function readSignature(sealed: string): StreamEvent[] {
  const signature = openSignature(sealed);
  return signature ? [{ type: 'thinking-signature', signature }] : [];
}
