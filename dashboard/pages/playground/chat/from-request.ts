// A request that was sent before, as a conversation to go on with. Pure functions.
import { readBody } from '../../../api/chat-formats/read-body.ts';
import {
  noAnswer,
  type Attachment,
  type ChatFormat,
  type ChatSettings,
  type Json,
  type Message,
  type ReadRequest,
} from '../../../api/chat-formats/types.ts';
import { noProgress } from '../../../api/run-chat.ts';
import type { Step, Turn } from './conversation.ts';
import { emptyDraft, type Draft } from './draft.ts';

/** The chat that the page opens with: earlier turns, and a question that is not answered yet. */
export type Beginning = {
  readonly draft: Draft;
  readonly turns: readonly Turn[];
  readonly text: string;
  readonly attachments: readonly Attachment[];
};

/** Instructions move to the front. Results at the end wait there, so that the reader can change them. */
export function beginningOf(
  { model, messages, ...read }: ReadRequest,
  format: ChatFormat,
): Beginning {
  const system: string[] = [];
  const asked: { text: string; attachments: readonly Attachment[]; steps: Step[] }[] = [];
  for (const message of messages) {
    const last = asked.at(-1);
    if (message.role === 'system') system.push(message.text);
    else if (message.role === 'user') {
      const { text, attachments = [] } = message;
      // Two questions in a row are one.
      const before = last?.steps.length === 0 ? asked.pop() : undefined;
      asked.push({
        text: before ? `${before.text}\n\n${text}` : text,
        attachments: [...(before?.attachments ?? []), ...attachments],
        steps: [],
      });
    } else if (message.role === 'assistant') {
      if (last) last.steps.push(stepOf(model, message));
      else asked.push({ text: '', attachments: [], steps: [stepOf(model, message)] });
    } else if (last?.steps.length)
      last.steps.push({ ...last.steps.pop()!, results: message.results });
  }
  const open = asked.at(-1)?.steps.length === 0 ? asked.pop() : undefined;
  const last = asked.at(-1)?.steps;
  if (!open && last?.at(-1)?.results) {
    const { results, ...step } = last.pop()!;
    last.push({ ...step, results: null, drafted: results! });
  }
  const settings = { ...read, system: system.join('\n\n') };
  return {
    draft: draftOf(settings),
    turns: asked.map(({ steps, ...question }, index) => {
      const replies = [{ column: 0, steps }];
      return { id: index + 1, ...question, format: format.name, settings, replies };
    }),
    text: open?.text ?? '',
    attachments: open?.attachments ?? [],
  };
}

function stepOf(model: string, said: Extract<Message, { readonly role: 'assistant' }>): Step {
  const progress = { ...noProgress, answer: { ...noAnswer, ...said } };
  return { model, progress, state: 'complete', error: null, results: null };
}

function draftOf({ tools, toolChoice, schema, ...settings }: ChatSettings): Draft {
  return {
    ...emptyDraft,
    ...settings,
    toolsText: tools.length === 0 ? '' : JSON.stringify(tools, null, 2),
    toolChoice:
      typeof toolChoice === 'string' ? toolChoice : toolChoice ? `tool:${toolChoice.name}` : 'auto',
    ...(schema && {
      schemaText: JSON.stringify(schema.schema, null, 2),
      schemaName: schema.name,
      isSchemaStrict: schema.strict,
    }),
  };
}

/** Written in another way, or not at all where it says nothing. */
const rewritten = new Set(['stream', 'stream_options', 'max_tokens']);

/** Returns the fields of a body that the playground does not send, or not all of. */
export function fieldsLeftOut(body: Json, format: ChatFormat): readonly string[] {
  const read = readBody(format, body);
  const written = format.writeBody({ ...read, system: 'any', messages: [] });
  const { tools } = body;
  return Object.keys(body).filter((name) =>
    name === 'tools'
      ? Array.isArray(tools) && tools.length > read.tools.length
      : !(name in written || rewritten.has(name) || body[name] === null || body[name] === 'auto'),
  );
}
