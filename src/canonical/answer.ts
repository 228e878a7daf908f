// A whole answer, and the code that collects a stream into one: a client that does not stream gets
// what a streaming client could have collected.
import type { Citation } from './citation.ts';
import type { AssistantPart, SpokenPart } from './request.ts';
import type { StreamEvent } from './event.ts';
import type { AnswerPart } from './own-tools.ts';
import type { Stop } from './stop.ts';
import type { Usage } from './usage.ts';

export type Answer<Part = AssistantPart> = {
  readonly content: readonly Part[];
  readonly stop: Stop;
  readonly usage: Usage | null;
};

/** Returns the events of an answer, each block in one piece. Collecting them gives the answer again. */
export function* eventsOf({ content, stop, usage }: Answer): Generator<StreamEvent> {
  yield { type: 'start', usage: null };
  for (const part of content) yield* eventsOfPart(part);
  yield { type: 'finish', stop, usage };
}

/** `pieces`: what the words of a spoken part are cut into. Left out: one piece. Empty ones are left out. */
export function* eventsOfPart(
  part: AnswerPart,
  pieces?: readonly string[],
): Generator<StreamEvent> {
  if (part.type === 'search') yield { type: 'search-start', query: part.query };
  if (part.type === 'drawing') yield { type: 'drawing-start', prompt: part.prompt };
  if (part.type === 'search' || part.type === 'drawing' || part.type === 'image') return yield part;
  yield startOf(part);
  for (const text of pieces ?? [wordsOf(part)])
    if (text !== '') yield { type: `${part.type}-delta`, text };
  if (part.type === 'text')
    for (const citation of part.citations ?? []) yield { type: 'citation', citation };
  if (part.type === 'thinking' && part.signature)
    yield { type: 'thinking-signature', signature: part.signature };
  yield { type: `${part.type}-end` };
}

function startOf(part: SpokenPart): StreamEvent {
  switch (part.type) {
    case 'thinking':
      return { type: 'thinking-start', redacted: part.redacted };
    case 'tool-call':
      return { type: 'tool-call-start', id: part.id, name: part.name, kind: part.kind };
    default:
      return { type: `${part.type}-start` };
  }
}

/** Returns the delta of a text; of an empty one, none. */
export function deltaOf(
  text: string,
  type: 'text-delta' | 'thinking-delta' | 'tool-call-delta' = 'text-delta',
): StreamEvent[] {
  return text === '' ? [] : [{ type, text }];
}

/** Returns the text of a part, or the arguments of a call. */
export function wordsOf(part: SpokenPart): string {
  return part.type === 'tool-call' ? part.arguments : part.text;
}

/** Collects a stream into an answer. `null` until the stream has finished. */
export class AnswerCollector {
  readonly #content: AssistantPart[] = [];
  /** The citations of the last text. */
  #citations: Citation[] = [];
  #answer: Answer | null = null;

  push(event: StreamEvent): void {
    switch (event.type) {
      case 'text-start':
        this.#citations = [];
        return this.#add({ type: 'text', text: '' });
      case 'refusal-start':
        return this.#add({ type: 'refusal', text: '' });
      case 'thinking-start':
        return this.#add({ ...event, type: 'thinking', text: '', signature: null });
      case 'tool-call-start':
        return this.#add({ ...event, type: 'tool-call', arguments: '' });
      case 'text-delta':
      case 'refusal-delta':
      case 'thinking-delta':
        return this.#replaceLast((part) =>
          'text' in part ? { ...part, text: part.text + event.text } : part,
        );
      case 'citation':
        this.#citations.push(event.citation);
        return this.#replaceLast((part) =>
          part.type === 'text' ? { ...part, citations: this.#citations } : part,
        );
      case 'tool-call-delta':
        return this.#replaceLast((part) =>
          part.type === 'tool-call' ? { ...part, arguments: part.arguments + event.text } : part,
        );
      case 'thinking-signature':
        return this.#replaceLast((part) =>
          part.type === 'thinking' ? { ...part, signature: event.signature } : part,
        );
      case 'image':
        return this.#add(event);
      case 'finish':
        this.#answer = { content: this.#content, stop: event.stop, usage: event.usage };
        return;
      default:
        // Starts and ends, and what the gateway's own tools give.
        return;
    }
  }

  /** What has come so far. */
  get content(): readonly AssistantPart[] {
    return this.#content;
  }

  get answer(): Answer | null {
    return this.#answer;
  }

  #add(part: AssistantPart): void {
    this.#content.push(part);
  }

  #replaceLast(change: (part: AssistantPart) => AssistantPart): void {
    const last = this.#content.pop();
    if (last) this.#content.push(change(last));
  }
}
