// Turns the parts of an answer, in order, into blocks that never overlap. Consecutive parts of one
// kind become one block, so that a stream, with a part in every chunk, reads like the whole answer.
import { eventsOfPart } from '../../canonical/answer.ts';
import type { StreamEvent } from '../../canonical/event.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import { isObject, type JsonObject, textOf } from '../../lib/json.ts';
import { readInput } from '../call-arguments.ts';
import { UnreadableAnswer } from '../format.ts';
import { isWithin, placeCitation, type FoundCitation } from './citations.ts';
import { codeAsText } from './executed-code.ts';
import { placeSignature, type SignedPlace } from '../../canonical/thought-signature.ts';

/**
 * A text keeps its signature until it ends, because more text may follow. `emptySignature`: the
 * signature of an empty text behind it; many streams end with one, before the text's sources.
 */
type OpenBlock =
  | { readonly kind: 'text'; text: string; signature: string; emptySignature: string }
  | { readonly kind: 'thinking' };

export class PartReader {
  #open: OpenBlock | null = null;
  #calls = 0;
  #hasText = false;
  /** As the latest chunk has them: each may repeat and extend those before. */
  sources: readonly FoundCitation[] = [];
  /** How many of them have been cited. */
  #cited = 0;

  get hasCalls(): boolean {
    return this.#calls > 0;
  }

  /**
   * `responseId`: the base of generated call ids, because Gemini mostly sends none. Throws
   * UnreadableAnswer on a call without a name or with arguments in pieces.
   */
  read(part: unknown, responseId: unknown): StreamEvent[] {
    if (!isObject(part)) return [];
    const signature = textOf(part.thoughtSignature);
    if (isObject(part.functionCall))
      return this.#readCall(part.functionCall, { signature, responseId });
    const { inlineData: media } = part;
    if (isObject(media) && part.thought !== true) return this.#readMedia(media);
    const code = codeAsText(part);
    // Its signature belongs to the code, not to a text.
    if (code !== null) return this.#readText(code, '');
    if (typeof part.text !== 'string') return [];
    return part.thought === true
      ? this.#readThought(part.text, signature)
      : this.#readText(part.text, signature);
  }

  /** Ends the open block. `isLast`: a text cites all sources that no text before it has cited. */
  end(isLast = false): StreamEvent[] {
    const open = this.#open;
    this.#open = null;
    if (!open) return [];
    if (open.kind === 'thinking') return [{ type: 'thinking-end' }];
    return [
      ...this.#cite(open.text, isLast),
      { type: 'text-end' },
      ...(open.signature === '' ? [] : writeHidden({ kind: 'text' }, open.signature)),
      ...(open.emptySignature === ''
        ? []
        : writeHidden({ kind: 'empty-text' }, open.emptySignature)),
    ];
  }

  /** Ends the answer. Sources that came when their text had ended stand in an empty one behind it. */
  finish(): StreamEvent[] {
    const events = this.end(true);
    const late = this.#hasText ? this.#cite('', true) : [];
    if (late.length === 0) return events;
    return [...events, { type: 'text-start' }, ...late, { type: 'text-end' }];
  }

  /** Sources stand in the order of their words, so those of this text are the next ones. */
  #cite(text: string, isLast: boolean): StreamEvent[] {
    const first = this.#cited;
    const isNext = (source?: FoundCitation) => source && (isLast || isWithin(source, text));
    while (isNext(this.sources[this.#cited])) this.#cited++;
    const found = this.sources.slice(first, this.#cited);
    return found.map((source) => ({ type: 'citation', citation: placeCitation(source, text) }));
  }

  #readText(text: string, signature: string): StreamEvent[] {
    if (text === '') return signature === '' ? [] : this.#readEmptyText(signature);
    const { signature: first, emptySignature } =
      this.#open?.kind === 'text' ? this.#open : { signature: '', emptySignature: '' };
    // Two signatures mean two parts, and text after an empty text is a new part.
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

  /** Only images: no request asks for sound. */
  #readMedia({ mimeType, data }: JsonObject): StreamEvent[] {
    if (typeof mimeType !== 'string' || typeof data !== 'string') return [];
    if (!mimeType.startsWith('image/') || data === '') return [];
    return [
      ...this.end(),
      { type: 'image', source: { kind: 'base64', mediaType: mimeType, data } },
    ];
  }

  #readThought(text: string, signature: string): StreamEvent[] {
    if (text === '' && signature === '') return [];
    const events = this.#ensure('thinking');
    if (text !== '') events.push({ type: 'thinking-delta', text });
    return signature === '' ? events : [...events, ...this.#sign({ kind: 'thought' }, signature)];
  }

  #readCall(
    call: JsonObject,
    { signature, responseId }: { signature: string; responseId: unknown },
  ): StreamEvent[] {
    if (Array.isArray(call.partialArgs) || call.willContinue === true)
      throw new UnreadableAnswer(argumentsInPieces);
    if (typeof call.name !== 'string' || call.name === '')
      throw new UnreadableAnswer('a call of the answer has no name');
    const id =
      typeof call.id === 'string' && call.id !== '' ? call.id : makeCallId(responseId, this.#calls);
    this.#calls++;
    return [
      ...(signature === '' ? this.end() : this.#signCall(id, signature)),
      { type: 'tool-call-start', id, name: call.name, kind: 'function' },
      { type: 'tool-call-delta', text: readInput(call.args) },
      { type: 'tool-call-end' },
    ];
  }

  /**
   * The thoughts before a call carry its signature. Without thoughts, the signature gets its own
   * block.
   */
  #signCall(callId: string, signature: string): StreamEvent[] {
    const place = { kind: 'call', callId } as const;
    if (this.#open?.kind === 'thinking') return this.#sign(place, signature);
    return [...this.end(), ...writeHidden(place, signature)];
  }

  #sign(place: SignedPlace, signature: string): StreamEvent[] {
    return [
      { type: 'thinking-signature', signature: placeSignature(place, signature) },
      ...this.end(),
    ];
  }

  #ensure(kind: OpenBlock['kind']): StreamEvent[] {
    if (this.#open?.kind === kind) return [];
    const ended = this.end();
    this.#hasText ||= kind === 'text';
    this.#open = kind === 'text' ? { kind, text: '', signature: '', emptySignature: '' } : { kind };
    return [
      ...ended,
      kind === 'text' ? { type: 'text-start' } : { type: 'thinking-start', redacted: false },
    ];
  }
}

/**
 * Vertex AI sends these on request (`streamFunctionCallArguments`). The gateway never requests
 * them.
 */
const argumentsInPieces =
  'the answer sends the arguments of a call in pieces (`partialArgs`), which is not supported: turn it off at the host';

function writeHidden(place: SignedPlace, signature: string): StreamEvent[] {
  const sealed = placeSignature(place, signature);
  return [...eventsOfPart({ type: 'thinking', text: '', signature: sealed, redacted: true })];
}

/** The same answer gets the same ids, however its bytes are split. */
function makeCallId(responseId: unknown, index: number): string {
  if (typeof responseId !== 'string' || !/^[\w-]{8,40}$/.test(responseId))
    return newIdWithPrefix('call');
  return `call_${responseId}_${index}`;
}
