// Writes canonical events as a Messages stream. Blocks are sent one after another, numbered without
// gaps.
import type { ApiError, ErrorContext } from '../../canonical/errors.ts';
import type { StreamEvent } from '../../canonical/event.ts';
import type { SearchPart } from '../../canonical/own-tools.ts';
import type { Usage } from '../../canonical/usage.ts';
import { formatSse } from '../../lib/sse.ts';
import type { JsonObject } from '../../lib/json.ts';
import { AnswerStream } from '../answer-stream.ts';
import type { AnswerContext, StreamPipe } from '../format.ts';
import { shownSpeed } from '../service-tiers.ts';
import { withLimit } from '../with-limit.ts';
import { writeCitation } from './citations.ts';
import { writeError } from './errors.ts';
import { safeguardResults } from './safeguards.ts';
import { searchBlocks, type SearchBlocks } from './search-blocks.ts';
import { sealSignature } from './signature.ts';
import { writeStop } from './stop.ts';
import { writeEstimatedUsage, writeMessageUsage, writeSearchUsage, writeUsage } from './usage.ts';
import { writeInput } from './tool-input.ts';
import { callBlock, imageNote, messageHead } from './write-answer.ts';

/**
 * The last two events, `message_delta` with the usage and `message_stop`, are held back for
 * `close`.
 */
export function writeStream(context: AnswerContext): StreamPipe<StreamEvent> {
  return withLimit(new MessageStreamWriter(context));
}

type BlockKind = 'text' | 'thinking' | 'redacted' | 'tool-call' | 'search';

class MessageStreamWriter extends AnswerStream {
  #hasStarted = false;
  #hasRefusal = false;
  #index = -1;
  /** `hidden`: reasoning whose block can be written only when its signature has arrived. */
  #open: BlockKind | 'hidden' | null = null;
  #search: SearchBlocks | null = null;
  readonly #searches: SearchPart[] = [];
  /** True once the open thinking block has its signature. */
  #isSigned = false;
  /** The first character of the open call's arguments; all of them while it does not begin an object. */
  #input = { first: '', held: '' };

  push(event: StreamEvent): string {
    if (this.progress.status !== 'running') return '';
    this.progress.output.addEvent(event);
    switch (event.type) {
      case 'start':
        this.noteUsage(event.usage);
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
        return this.#open === 'tool-call' ? this.#writeInput(event.text) : '';
      case 'citation':
        return this.#open === 'text'
          ? this.#writeDelta({ type: 'citations_delta', citation: writeCitation(event.citation) })
          : '';
      case 'text-end':
      case 'refusal-end':
      case 'thinking-end':
      case 'tool-call-end':
        return this.#close();
      case 'search-start':
        return this.#openSearch(event.query);
      case 'search':
        this.#searches.push(event);
        return this.#openBlock('search', this.#search!.resultOf(event.found)) + this.#close();
      case 'drawing-start':
      case 'drawing-partial':
        return '';
      case 'image':
      case 'drawing':
        return this.#openText() + this.#writeText(imageNote) + this.#close();
      case 'finish':
        this.finish(event);
        return this.#start(null) + this.#close();
      case 'error':
        return this.breakOff(event.failure);
    }
  }

  close(costUsd: number): string {
    const counted = this.counted();
    const { request } = this.context;
    const speed = request.tier && { speed: shownSpeed(counted, request) };
    const delta = {
      ...writeStop(this.progress.stop!, this.#hasRefusal, request.body),
      container: null,
      ...safeguardResults(request.body),
    };
    return (
      frame('message_delta', {
        delta,
        usage: {
          ...writeUsage(counted),
          ...speed,
          ...writeSearchUsage(this.#searches),
          cost: costUsd,
        },
      }) + frame('message_stop', {})
    );
  }

  fail(error: ApiError, asked: ErrorContext): string {
    return formatSse('error', JSON.stringify(writeError(error, asked)));
  }

  /**
   * Context meters read the input from this event, so our estimate is used until the upstream has
   * counted.
   */
  #start(usage: Usage | null): string {
    if (this.#hasStarted) return '';
    this.#hasStarted = true;
    const message = {
      ...messageHead(this.context),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      usage: usage
        ? writeMessageUsage(usage, this.context.request)
        : writeEstimatedUsage(this.context),
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

  #openSearch(query: string | null): string {
    this.#search = searchBlocks(query, this.context, this.#index + 1);
    const { use } = this.#search;
    return (
      this.#openBlock('search', { ...use, input: {} }) +
      this.#writeDelta({ type: 'input_json_delta', partial_json: JSON.stringify(use.input) }) +
      this.#close()
    );
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
    if (this.#open === 'hidden')
      return (
        this.#openBlock('redacted', { type: 'redacted_thinking', data: sealed }) + this.#close()
      );
    if (this.#open !== 'thinking') return '';
    this.#isSigned = true;
    return this.#writeDelta({ type: 'signature_delta', signature: sealed });
  }

  /** Clients fail on arguments that are no object. */
  #writeInput(text: string): string {
    this.#input.first ||= text.trimStart().charAt(0);
    const held = this.#input.held + text;
    const isObject = this.#input.first === '{';
    this.#input.held = isObject ? '' : held;
    return isObject ? this.#writeDelta({ type: 'input_json_delta', partial_json: held }) : '';
  }

  #writeDelta(delta: JsonObject): string {
    return frame('content_block_delta', { index: this.#index, delta });
  }

  #close(): string {
    if (this.#open === 'thinking' && !this.#isSigned)
      return this.#writeSignature(sealSignature(null)) + this.#close();
    const { held } = this.#input;
    this.#input = { first: '', held: '' };
    if (held.trim() !== '')
      return this.#writeInput(JSON.stringify(writeInput(held))) + this.#close();
    const isOpen = this.#open !== null && this.#open !== 'hidden';
    this.#open = null;
    this.#isSigned = false;
    return isOpen ? frame('content_block_stop', { index: this.#index }) : '';
  }
}

function frame(type: string, fields: JsonObject): string {
  return formatSse(type, JSON.stringify({ type, ...fields }));
}
