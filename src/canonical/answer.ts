// A whole answer, and its equivalence with a stream: what a non-streaming client gets is what a streaming one could have collected.
import type { AssistantPart } from './request.ts';
import type { Stop, StreamEvent } from './event.ts';
import type { Usage } from './usage.ts';

export type Answer = {
  readonly content: readonly AssistantPart[];
  readonly stop: Stop;
  readonly usage: Usage | null;
};

/** The events of a whole answer, each block in one delta. `collectAnswer(answerEvents(a))` equals `a`. */
export function* answerEvents(answer: Answer): Generator<StreamEvent> {
  yield { type: 'start', usage: null };
  for (const part of answer.content) yield* partEvents(part);
  yield { type: 'finish', stop: answer.stop, usage: answer.usage };
}

function* partEvents(part: AssistantPart): Generator<StreamEvent> {
  switch (part.type) {
    case 'text':
      yield { type: 'text-start' };
      if (part.text !== '') yield { type: 'text-delta', text: part.text };
      for (const citation of part.citations ?? []) yield { type: 'citation', citation };
      yield { type: 'text-end' };
      return;
    case 'refusal':
      yield { type: 'refusal-start' };
      if (part.text !== '') yield { type: 'refusal-delta', text: part.text };
      yield { type: 'refusal-end' };
      return;
    case 'thinking':
      yield { type: 'thinking-start', redacted: part.redacted };
      if (part.text !== '') yield { type: 'thinking-delta', text: part.text };
      if (part.signature) yield { type: 'thinking-signature', signature: part.signature };
      yield { type: 'thinking-end' };
      return;
    case 'tool-call':
      yield { type: 'tool-call-start', id: part.id, name: part.name, kind: part.kind };
      if (part.arguments !== '') yield { type: 'tool-call-delta', text: part.arguments };
      yield { type: 'tool-call-end' };
      return;
  }
}

/** Gathers a stream into an answer. `null` until the stream has finished. */
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
        this.#content.push({ type: 'thinking', text: '', signature: null, redacted: event.redacted });
        return;
      case 'tool-call-start':
        this.#content.push({ type: 'tool-call', id: event.id, name: event.name, arguments: '', kind: event.kind });
        return;
      case 'text-delta':
      case 'refusal-delta':
      case 'thinking-delta':
        this.#replaceLast((part) => ('text' in part ? { ...part, text: part.text + event.text } : part));
        return;
      case 'citation':
        this.#replaceLast((part) =>
          part.type === 'text' ? { ...part, citations: [...(part.citations ?? []), event.citation] } : part,
        );
        return;
      case 'tool-call-delta':
        this.#replaceLast((part) => (part.type === 'tool-call' ? { ...part, arguments: part.arguments + event.text } : part));
        return;
      case 'thinking-signature':
        this.#replaceLast((part) => (part.type === 'thinking' ? { ...part, signature: event.signature } : part));
        return;
      case 'finish':
        this.#answer = { content: this.#content, stop: event.stop, usage: event.usage };
        return;
      case 'start':
      case 'text-end':
      case 'refusal-end':
      case 'thinking-end':
      case 'tool-call-end':
      case 'error':
        return;
    }
  }

  get answer(): Answer | null {
    return this.#answer;
  }

  #replaceLast(change: (part: AssistantPart) => AssistantPart): void {
    const last = this.#content.pop();
    if (last) this.#content.push(change(last));
  }
}
