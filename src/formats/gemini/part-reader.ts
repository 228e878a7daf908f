// The parts of an answer, in the order in which they come, to blocks that never overlap. Parts of one kind that follow each other are
// one block, so that a stream, whose every chunk has its own part, reads like the whole answer.
import type { StreamEvent } from '../../canonical/event.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import { isObject } from '../../lib/json.ts';
import { readInput } from '../call-arguments.ts';
import { UnreadableAnswer, type JsonObject } from '../format.ts';
import { placeCitation, type FoundCitation } from './citations.ts';
import { sealSignature, type SignedPlace } from '../../canonical/thought-signature.ts';

/**
 * A text keeps its signature until it ends: more of it may come. `emptySignature` is of an empty text behind it, which ends many streams
 * ahead of the sources that belong to the text.
 */
type OpenBlock =
  | { readonly kind: 'text'; text: string; signature: string; emptySignature: string }
  | { readonly kind: 'thinking' };

export class PartReader {
  #open: OpenBlock | null = null;
  #calls = 0;

  get hasCalls(): boolean {
    return this.#calls > 0;
  }

  /** `responseId`: what the ids of calls are made from, which Gemini mostly leaves out. Throws UnreadableAnswer on a call without a name. */
  read(part: unknown, responseId: unknown): StreamEvent[] {
    if (!isObject(part)) return [];
    const signature = typeof part.thoughtSignature === 'string' ? part.thoughtSignature : '';
    if (isObject(part.functionCall)) return this.#readCall(part.functionCall, { signature, responseId });
    // Code that Gemini runs itself, and media: no other format has a place for them, and none of it is ever asked for.
    if (typeof part.text !== 'string') return [];
    return part.thought === true ? this.#readThought(part.text, signature) : this.#readText(part.text, signature);
  }

  /** The sources of the text that is open; Gemini gives them with its last part. */
  cite(citations: readonly FoundCitation[]): StreamEvent[] {
    const open = this.#open;
    if (open?.kind !== 'text') return [];
    return citations.map((found) => ({ type: 'citation', citation: placeCitation(found, open.text) }));
  }

  end(): StreamEvent[] {
    const open = this.#open;
    this.#open = null;
    if (!open) return [];
    if (open.kind === 'thinking') return [{ type: 'thinking-end' }];
    return [
      { type: 'text-end' },
      ...(open.signature === '' ? [] : writeHidden({ kind: 'text' }, open.signature)),
      ...(open.emptySignature === '' ? [] : writeHidden({ kind: 'empty-text' }, open.emptySignature)),
    ];
  }

  #readText(text: string, signature: string): StreamEvent[] {
    if (text === '') return signature === '' ? [] : this.#readEmptyText(signature);
    const { signature: first, emptySignature } = this.#open?.kind === 'text' ? this.#open : { signature: '', emptySignature: '' };
    // Two signatures are two parts, and what follows an empty text is another one.
    const ended = emptySignature !== '' || (signature !== '' && first !== '') ? this.end() : [];
    const events: StreamEvent[] = [...ended, ...this.#ensure('text'), { type: 'text-delta', text }];
    if (this.#open?.kind === 'text') {
      this.#open.text += text;
      if (signature !== '') this.#open.signature = signature;
    }
    return events;
  }

  #readEmptyText(signature: string): StreamEvent[] {
    if (this.#open?.kind !== 'text' || this.#open.emptySignature !== '') {
      return [...this.end(), ...writeHidden({ kind: 'empty-text' }, signature)];
    }
    this.#open.emptySignature = signature;
    return [];
  }

  #readThought(text: string, signature: string): StreamEvent[] {
    if (text === '' && signature === '') return [];
    const events = this.#ensure('thinking');
    if (text !== '') events.push({ type: 'thinking-delta', text });
    return signature === '' ? events : [...events, ...this.#sign({ kind: 'thought' }, signature)];
  }

  #readCall(call: JsonObject, { signature, responseId }: { signature: string; responseId: unknown }): StreamEvent[] {
    if (typeof call.name !== 'string' || call.name === '') throw new UnreadableAnswer('a call of the answer has no name');
    const id = typeof call.id === 'string' && call.id !== '' ? call.id : makeCallId(responseId, this.#calls);
    this.#calls++;
    return [
      ...(signature === '' ? this.end() : this.#signCall(id, signature)),
      { type: 'tool-call-start', id, name: call.name, kind: 'function' },
      { type: 'tool-call-delta', text: readInput(call.args) },
      { type: 'tool-call-end' },
    ];
  }

  /** The thoughts before a call carry its signature; without any it gets a block of its own. */
  #signCall(callId: string, signature: string): StreamEvent[] {
    const place = { kind: 'call', callId } as const;
    if (this.#open?.kind === 'thinking') return this.#sign(place, signature);
    return [...this.end(), ...writeHidden(place, signature)];
  }

  #sign(place: SignedPlace, signature: string): StreamEvent[] {
    return [{ type: 'thinking-signature', signature: sealSignature(place, signature) }, ...this.end()];
  }

  #ensure(kind: OpenBlock['kind']): StreamEvent[] {
    if (this.#open?.kind === kind) return [];
    const ended = this.end();
    this.#open = kind === 'text' ? { kind, text: '', signature: '', emptySignature: '' } : { kind };
    return [...ended, kind === 'text' ? { type: 'text-start' } : { type: 'thinking-start', redacted: false }];
  }
}

function writeHidden(place: SignedPlace, signature: string): StreamEvent[] {
  return [
    { type: 'thinking-start', redacted: true },
    { type: 'thinking-signature', signature: sealSignature(place, signature) },
    { type: 'thinking-end' },
  ];
}

/** The same answer gets the same ids, however its bytes are split. */
function makeCallId(responseId: unknown, index: number): string {
  if (typeof responseId !== 'string' || !/^[\w-]{8,40}$/.test(responseId)) return newIdWithPrefix('call');
  return `call_${responseId}_${index}`;
}
