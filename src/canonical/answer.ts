// A whole answer, and the code that collects a stream into one: a client that does not stream gets
// what a streaming client could have collected.
import type { AssistantPart } from './request.ts';
import type { StreamEvent } from './event.ts';
import type { Stop } from './stop.ts';
import type { Usage } from './usage.ts';

export type Answer<Part = AssistantPart> = {
  readonly content: readonly Part[];
  readonly stop: Stop;
  readonly usage: Usage | null;
};

/** Collects a stream into an answer. `null` until the stream has finished. */
export class AnswerCollector {
  readonly #content: AssistantPart[] = [];
  #answer: Answer | null = null;

  push(event: StreamEvent): void {
    switch (event.type) {
      case 'text-start':
        this.#content.push({ type: 'text', text: '' });
        return;
      case 'refusal-start':
        this.#content.push({ type: 'refusal', text: '' });
        return;
      case 'thinking-start':
        this.#content.push({
          type: 'thinking',
          text: '',
          signature: null,
          redacted: event.redacted,
        });
        return;
      case 'tool-call-start':
        this.#content.push({
          type: 'tool-call',
          id: event.id,
          name: event.name,
          arguments: '',
          kind: event.kind,
        });
        return;
      case 'text-delta':
      case 'refusal-delta':
      case 'thinking-delta':
        this.#replaceLast((part) =>
          'text' in part ? { ...part, text: part.text + event.text } : part,
        );
        return;
      case 'citation':
        this.#replaceLast((part) =>
          part.type === 'text'
            ? { ...part, citations: [...(part.citations ?? []), event.citation] }
            : part,
        );
        return;
      case 'tool-call-delta':
        this.#replaceLast((part) =>
          part.type === 'tool-call' ? { ...part, arguments: part.arguments + event.text } : part,
        );
        return;
      case 'thinking-signature':
        this.#replaceLast((part) =>
          part.type === 'thinking' ? { ...part, signature: event.signature } : part,
        );
        return;
      case 'image':
        this.#content.push(event);
        return;
      case 'finish':
        this.#answer = { content: this.#content, stop: event.stop, usage: event.usage };
        return;
      case 'start':
      case 'text-end':
      case 'refusal-end':
      case 'thinking-end':
      case 'tool-call-end':
      case 'search-start':
      case 'search':
      case 'drawing-start':
      case 'drawing':
      case 'error':
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

  #replaceLast(change: (part: AssistantPart) => AssistantPart): void {
    const last = this.#content.pop();
    if (last) this.#content.push(change(last));
  }
}
