// Gathers items into messages: what the assistant said, thought and called in one turn becomes one
// message, and so do consecutive results. Messages grow in place: a copy for each item took half a
// minute for forty thousand of them.
import type { AssistantPart, Message, TextPart, ToolResultPart } from '../../canonical/request.ts';
import { append } from '../../lib/append.ts';

export type Conversation = {
  /** The system and developer messages before everything else. */
  readonly system: readonly TextPart[];
  readonly messages: readonly Message[];
};

type ResultContent = ToolResultPart['content'][number][];

/** Takes the items' messages one after another. */
export class MessageGatherer implements Conversation {
  readonly system: TextPart[] = [];
  readonly messages: Message[] = [];
  /** The content of the last message, if it is the assistant's. */
  #turn: AssistantPart[] | null = null;
  /** The last message, if it holds results, and the content of each by call id. */
  #results: {
    readonly parts: ToolResultPart[];
    readonly byCall: Map<string, ResultContent>;
  } | null = null;
  /** The call ids whose latest call has a result. */
  readonly #answered = new Set<string>();

  add(message: Message): void {
    switch (message.role) {
      case 'system':
        if (this.messages.length > 0) this.#push(message);
        else append(this.system, message.content);
        return;
      case 'user':
        this.#push(message);
        return;
      case 'assistant':
        this.#addTurn(message.content);
        return;
      case 'tool':
        for (const result of message.content) this.#addResult(result);
    }
  }

  #addTurn(content: readonly AssistantPart[]): void {
    if (content.length === 0) return;
    if (!this.#turn) {
      const turn: AssistantPart[] = [];
      this.#push({ role: 'assistant', content: turn });
      this.#turn = turn;
    }
    append(this.#turn, content);
    for (const part of content) if (part.type === 'tool-call') this.#answered.delete(part.id);
  }

  /**
   * Merges the results of a call into one. Codex sends the output of a running custom tool as extra
   * results, right before the last one or much earlier, and other providers refuse two results.
   */
  #addResult(result: ToolResultPart): void {
    const sameCall = this.#results?.byCall.get(result.callId);
    if (sameCall) {
      append(sameCall, result.content);
    } else if (this.#answered.has(result.callId)) {
      const text = `[More output of the tool call ${result.callId}]`;
      this.#push({ role: 'user', content: [{ type: 'text', text }, ...result.content] });
    } else {
      this.#openResult(result);
    }
  }

  #openResult(result: ToolResultPart): void {
    if (!this.#results) {
      const parts: ToolResultPart[] = [];
      this.#push({ role: 'tool', content: parts });
      this.#results = { parts, byCall: new Map() };
    }
    const content: ResultContent = [...result.content];
    this.#results.parts.push({ ...result, content });
    this.#results.byCall.set(result.callId, content);
    this.#answered.add(result.callId);
  }

  #push(message: Message): void {
    this.messages.push(message);
    this.#turn = null;
    this.#results = null;
  }
}
