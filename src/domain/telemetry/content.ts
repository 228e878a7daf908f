// Prompts and answers in the JSON of the semantic conventions, limited in size.
// https://github.com/open-telemetry/semantic-conventions/tree/v1.41.1/docs/gen-ai
import type { SpanContent } from '../../events/request-spans.ts';
import type { AssistantPart, CanonicalRequest, Message } from '../../canonical/request.ts';
import type { Stop } from '../../canonical/stop.ts';
import { parseJson } from '../../lib/json.ts';
import { finishReasonOf } from './conventions.ts';

/** The part of a request that a trace shows. */
export type Prompt = Pick<CanonicalRequest, 'system' | 'messages'>;

/** The answer, as far as it arrived. `stop`: null when it did not end. */
export type Answered = {
  readonly content: readonly AssistantPart[];
  readonly stop: Stop['reason'] | null;
  /** More came than is kept. */
  readonly isCut: boolean;
};

/** The most characters of a prompt, and of an answer. */
export const contentCharactersMax = 64 * 1024;

export function writeContent(asked: Prompt, answered: Answered | null): SpanContent {
  const prompt = new Cutter();
  // The newest message matters most.
  const messages = asked.messages
    .toReversed()
    .map((message) => (prompt.isFull ? null : messageOf(message, prompt)))
    .filter((message) => message !== null)
    .toReversed();
  const system = asked.system.map(({ text }) => ({ type: 'text', content: prompt.take(text) }));
  const reply = new Cutter();
  const isAnswered = answered !== null && answered.content.length > 0;
  return {
    system: system.length === 0 ? null : JSON.stringify(system),
    input: JSON.stringify(messages),
    output: isAnswered ? JSON.stringify([replyOf(answered, reply)]) : null,
    isCut: prompt.hasCut || reply.hasCut || answered?.isCut === true,
  };
}

/** Takes the first characters of texts until there were too many. */
class Cutter {
  hasCut = false;
  #left = contentCharactersMax;

  get isFull(): boolean {
    if (this.#left === 0) this.hasCut = true;
    return this.#left === 0;
  }

  take(text: string): string {
    const taken = text.slice(0, this.#left);
    this.#left -= taken.length;
    if (taken.length < text.length) this.hasCut = true;
    return taken;
  }
}

type Part = Message['content'][number];

function messageOf({ role, content }: Message, cutter: Cutter): object {
  return { role, parts: content.map((part) => partOf(part, cutter)) };
}

function replyOf({ content, stop }: Answered, cutter: Cutter): object {
  return {
    role: 'assistant',
    parts: content.map((part) => partOf(part, cutter)),
    finish_reason: stop === null ? 'error' : finishReasonOf[stop],
  };
}

function partOf(part: Part, cutter: Cutter): object {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return { type: 'text', content: cutter.take(part.text) };
    case 'thinking':
      return { type: 'reasoning', content: cutter.take(part.text) };
    case 'tool-call':
      return {
        type: 'tool_call',
        id: part.id,
        name: part.name,
        arguments: argumentsOf(cutter.take(part.arguments)),
      };
    case 'tool-result': {
      const response = part.content.map((each) => partOf(each, cutter));
      return { type: 'tool_call_response', id: part.callId, response };
    }
    case 'image':
    case 'document': {
      const { type, source } = part;
      // The bytes are too large for a span.
      return source.kind === 'url'
        ? { type: 'uri', modality: type, uri: cutter.take(source.url) }
        : { type: 'blob', modality: type, mime_type: source.mediaType, content: '' };
    }
  }
}

/** Arguments that are JSON are part of the JSON; others stay text. */
function argumentsOf(text: string): unknown {
  const parsed = parseJson(Buffer.from(text), { depthMax: 100 });
  return parsed.ok ? parsed.value : text;
}
