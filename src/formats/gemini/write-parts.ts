// Writes an answer's content as parts, whole or in deltas. A signature stands on the part that it
// belongs to: Google's on its own, another vendor's on the next part behind the reasoning. Thoughts are
// shown to clients that ask for them; their signatures always return, so that the model can go on.
import { placeSpan, asUrlCitation, type Citation } from '../../canonical/citation.ts';
import type { StreamEvent } from '../../canonical/event.ts';
import type { MediaSource, ThinkingPart } from '../../canonical/request.ts';
import { readPlacedSignature } from '../../canonical/thought-signature.ts';
import type { JsonObject } from '../../lib/json.ts';
import { writeInput } from '../call-arguments.ts';
import type { ClientRequest } from '../format.ts';
import { sealForeign } from './client-signature.ts';
import type { GeminiRequest } from './schema.ts';

export class PartWriter {
  readonly #showsThoughts: boolean;
  /** A signature that waits for its part. */
  #carried: string | null = null;
  #call: { readonly id: string; readonly name: string; text: string } | null = null;
  #thinking: ThinkingPart | null = null;
  hasRefusal = false;
  readonly sources = new Sources();

  constructor(request: ClientRequest) {
    const { generationConfig } = request.body as Partial<GeminiRequest>;
    this.#showsThoughts = generationConfig?.thinkingConfig?.includeThoughts ?? false;
  }

  /** Returns the parts to send now. Calls are sent whole, as Gemini's are. */
  write(event: StreamEvent): JsonObject[] {
    switch (event.type) {
      case 'text-start':
        this.sources.beginBlock();
        return [];
      case 'text-delta':
      case 'refusal-delta':
        return this.#text(event.text);
      case 'refusal-start':
        this.hasRefusal = true;
        this.sources.beginBlock();
        return [];
      case 'citation':
        this.sources.add(event.citation);
        return [];
      case 'thinking-start':
        this.#thinking = { type: 'thinking', text: '', signature: null, redacted: event.redacted };
        return [];
      case 'thinking-delta':
        if (this.#thinking)
          this.#thinking = { ...this.#thinking, text: this.#thinking.text + event.text };
        return this.#thought(event.text);
      case 'thinking-signature':
        if (this.#thinking) this.#thinking = { ...this.#thinking, signature: event.signature };
        return [];
      case 'thinking-end': {
        const thinking = this.#thinking;
        this.#thinking = null;
        return thinking ? this.#endThought(thinking) : [];
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
        if (!call) return [];
        const { id, name, text } = call;
        return [this.#sign({ functionCall: { id, name, args: writeInput(text) } })];
      }
      case 'image':
        return [this.#image(event.source)];
      default:
        return [];
    }
  }

  #text(text: string): JsonObject[] {
    if (text === '') return [];
    this.sources.addText(text);
    return [this.#sign({ text })];
  }

  #thought(text: string): JsonObject[] {
    return this.#showsThoughts && text !== '' ? [{ text, thought: true }] : [];
  }

  /** Ends reasoning whose text has been written, or is hidden. */
  #endThought(thinking: ThinkingPart): JsonObject[] {
    const { signature } = thinking;
    const before = this.#release();
    if (signature?.vendor !== 'google') {
      this.#carried = sealForeign(thinking);
      return before;
    }
    const { place, value } = readPlacedSignature(signature.value);
    if (place.kind === 'call') {
      this.#carried = value;
      return before;
    }
    const part = place.kind === 'thought' ? { text: '', thought: true } : { text: '' };
    return [...before, { ...part, thoughtSignature: value }];
  }

  #image(source: MediaSource): JsonObject {
    return this.#sign(
      source.kind === 'url'
        ? { fileData: { mimeType: 'image/png', fileUri: source.url } }
        : { inlineData: { mimeType: source.mediaType, data: source.data } },
    );
  }

  end(): JsonObject[] {
    return this.#release();
  }

  #sign(part: JsonObject): JsonObject {
    const signature = this.#carried;
    this.#carried = null;
    return signature === null ? part : { ...part, thoughtSignature: signature };
  }

  /** A signature without a part stands on an empty text. */
  #release(): JsonObject[] {
    return this.#carried === null ? [] : [this.#sign({ text: '' })];
  }
}

/** The pages that an answer cites, by positions in bytes of its text. */
class Sources {
  #text = '';
  #blockStart = 0;
  readonly #supports: JsonObject[] = [];
  readonly #pages: JsonObject[] = [];
  /** Citations of the block, whose end is not known yet: in a stream they may come before its words. */
  readonly #pending: Citation[] = [];

  addText(text: string): void {
    this.#text += text;
  }

  beginBlock(): void {
    this.#place();
    this.#blockStart = this.#text.length;
  }

  add(citation: Citation): void {
    this.#pending.push(citation);
  }

  #place(): void {
    for (const citation of this.#pending.splice(0)) this.#support(citation);
  }

  #support(citation: Citation): void {
    const page = asUrlCitation(citation);
    if (!page) return;
    const { start, end } = placeSpan(page.span, {
      blockStart: this.#blockStart,
      length: this.#text.length - this.#blockStart,
    });
    const bytesTo = (index: number) => Buffer.byteLength(this.#text.slice(0, index));
    this.#pages.push({ web: { uri: page.url, ...(page.title !== null && { title: page.title }) } });
    this.#supports.push({
      segment: {
        startIndex: bytesTo(start),
        endIndex: bytesTo(end),
        text: this.#text.slice(start, end),
      },
      groundingChunkIndices: [this.#pages.length - 1],
    });
  }

  /** Returns the field of a candidate; {} without pages. */
  write(): JsonObject {
    this.#place();
    if (this.#pages.length === 0) return {};
    return {
      groundingMetadata: { groundingChunks: this.#pages, groundingSupports: this.#supports },
    };
  }
}
