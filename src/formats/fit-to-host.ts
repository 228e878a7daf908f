// Fits a written request to a host that refuses fields or words which others of its format take.
import { invalidRequest } from '../canonical/errors.ts';
import { isObject, type JsonObject, objectOf, textOf } from '../lib/json.ts';
import type { HostWishes } from '../terms/host-wishes.ts';
import { editAt, editFields, editItems } from './edit-json.ts';
import { isAskedFor } from './field-verdicts.ts';
import { fitEffort } from './openai-models.ts';

/** Fields that the gateway sets itself: leaving them out loses nothing of the client's. */
const ownFields = ['stream_options', 'store'];
/** Fields of Chat without which the answer would lack what the client waits for. */
export const needed: Readonly<Record<string, string>> = {
  n: 'must be 1 for this model: it gives one answer per request',
  functions: 'is not supported by this model; use `tools` and `tool_choice`',
  function_call: 'is not supported by this model; use `tools` and `tool_choice`',
};
const nothing: ReadonlySet<string> = new Set();

/**
 * Throws ApiError for a field that the host refuses and the answer depends on. `opened`: fields that the
 * operator allows, whatever the host is known to refuse.
 */
export function fitToHost(
  body: JsonObject,
  wishes: HostWishes,
  opened = nothing,
): { readonly body: JsonObject; readonly ignored: readonly string[] } {
  const ignored = new Set<string>();
  const edited = editFields(body, {
    ...fitNumbers(body, wishes, ignored),
    ...fitTools(body, wishes, ignored),
    ...fitThinking(body, wishes, ignored),
    ...fitHistory(body, wishes),
    ...fitFormat(body, wishes),
  });
  const { renamed = {} } = wishes;
  const lost = Object.keys(edited).filter(
    (name) => !opened.has(name) && refusesField(wishes, name),
  );
  for (const name of lost)
    if (Object.hasOwn(needed, name) && isAskedFor(edited[name]) && edited[name] !== 1)
      throw invalidRequest(name, `${name} ${needed[name]}`);
    else if (!ownFields.includes(name) && isAskedFor(edited[name])) ignored.add(name);
  // Calls one at a time are the one wish that `false` tells.
  const field = 'parallel_tool_calls';
  if (edited['tools'] && edited[field] === false && lost.includes(field)) ignored.add(field);
  if (lost.length === 0 && Object.keys(renamed).length === 0)
    return { body: edited, ignored: [...ignored] };
  const kept = Object.entries(edited).filter(([name]) => !lost.includes(name));
  return {
    body: Object.fromEntries(kept.map(([name, value]) => [nameOf(renamed, name), value])),
    ignored: [...ignored],
  };
}

/** Returns true when the host refuses the field, under its own name for it. */
export function refusesField({ refused, only, renamed = {} }: HostWishes, field: string): boolean {
  const name = nameOf(renamed, field);
  return refused?.includes(name) === true || only?.includes(name) === false;
}

function nameOf(renamed: Readonly<Record<string, string>>, field: string): string {
  return Object.hasOwn(renamed, field) ? renamed[field]! : field;
}

function fitNumbers(body: JsonObject, { ranges = {} }: HostWishes, ignored: Set<string>) {
  const edits: Record<string, unknown> = {};
  for (const [name, [least, most]] of Object.entries(ranges)) {
    const value = body[name];
    if (typeof value !== 'number' || (value >= least && value <= most)) continue;
    edits[name] = Math.min(Math.max(value, least), most);
    ignored.add(name);
  }
  return edits;
}

/**
 * Hosts that do not know the effort `none` ignore it, and the client would pay for thoughts. Models
 * that always think get no word for it.
 */
function fitThinking(
  body: JsonObject,
  { notThinking, forcesWithoutThinking, withoutEfforts }: HostWishes,
  ignored: Set<string>,
): JsonObject {
  const { model, tools, tool_choice: choice, reasoning_effort: effort } = body;
  if (withoutEfforts?.test(textOf(model)) && isAskedFor(effort) && effort !== 'none') {
    ignored.add('reasoning_effort');
    return { reasoning_effort: undefined };
  }
  const isForced =
    Array.isArray(tools) &&
    (choice === 'required' || isObject(choice)) &&
    fitEffort('none', textOf(model)) === 'none';
  if (!notThinking || (effort !== 'none' && !(forcesWithoutThinking && isForced))) return {};
  const told: JsonObject = { ...notThinking, reasoning_effort: undefined };
  const isSaid = (value: unknown) => JSON.stringify(value) === JSON.stringify(notThinking);
  for (const name of Object.keys(told))
    if (isAskedFor(body[name]) && body[name] !== 'none' && !isSaid({ [name]: body[name] }))
      ignored.add(name);
  return told;
}

/** Without a word for `none`, the tools are left out: nothing can be called then either. */
function fitTools(
  { tools, tool_choice: choice }: JsonObject,
  { refusedOfTools = [], toolChoices = {} }: HostWishes,
  ignored: Set<string>,
): JsonObject {
  if (!Array.isArray(tools)) return {};
  const kind = isObject(choice)
    ? 'named'
    : choice === 'required' || choice === 'none'
      ? choice
      : null;
  const word = kind === null ? undefined : toolChoices[kind];
  if (word === null && kind === 'none')
    return { tools: undefined, tool_choice: undefined, parallel_tool_calls: undefined };
  if (word === null) ignored.add('tool_choice');
  const chosen =
    kind === 'named' && word !== undefined ? nameIn((choice as JsonObject)['function']) : null;
  const offered =
    chosen === null ? tools : tools.filter((tool) => nameIn(objectOf(tool)['function']) === chosen);
  const fitted = editItems(offered, (tool) =>
    editAt(tool, ['function'], (called) => {
      const lost = refusedOfTools.filter((name) => Object.hasOwn(called, name));
      for (const name of lost) if (isAskedFor(called[name])) ignored.add(`tools.${name}`);
      return editFields(called, Object.fromEntries(lost.map((name) => [name, undefined])));
    }),
  );
  return { tools: fitted, tool_choice: word === undefined ? choice : (word ?? undefined) };
}

function nameIn(called: unknown): unknown {
  return objectOf(called)['name'] ?? null;
}

/** JSON mode as a schema: the one that some clients send with it, or one that any object fits. */
function fitFormat({ response_format: format }: JsonObject, { lacksJsonMode }: HostWishes) {
  const { type, schema = { type: 'object' } } = objectOf(format);
  if (!lacksJsonMode || type !== 'json_object') return {};
  return { response_format: { type: 'json_schema', json_schema: { name: 'json', schema } } };
}

function fitHistory(
  { messages }: JsonObject,
  { reasoningIn, stringContents, alternates }: HostWishes,
): JsonObject {
  if (!Array.isArray(messages) || (!reasoningIn && !stringContents && !alternates)) return {};
  return {
    messages: editItems(alternates ? joined(messages) : messages, (given: JsonObject) => {
      const isString =
        stringContents === 'all' || (stringContents === 'results' && given['role'] === 'tool');
      const message = isString ? withStringContent(given) : given;
      const { reasoning_content: reasoning } = message;
      if (!reasoningIn || typeof reasoning !== 'string') return message;
      const moved =
        reasoningIn === 'content' ? withThoughts(message['content'], reasoning) : reasoning;
      return { ...message, reasoning_content: undefined, [reasoningIn]: moved };
    }),
  };
}

const joinedRoles: readonly unknown[] = ['user', 'assistant'];

/** Joins messages in a row of one role. */
function joined(messages: readonly unknown[]): readonly unknown[] {
  const runs: { message: JsonObject; readonly contents: unknown[] }[] = [];
  for (const message of messages.map((sent) => objectOf(sent))) {
    const { role, content, ...fields } = message;
    const run = runs.at(-1);
    if (run && run.message['role'] === role && joinedRoles.includes(role)) {
      run.message = { ...run.message, ...fields };
      run.contents.push(content);
    } else runs.push({ message, contents: [content] });
  }
  return runs.map(({ message, contents }) =>
    contents.length === 1 ? message : { ...message, content: join(contents) },
  );
}

function join(contents: readonly unknown[]): unknown {
  const said = contents.filter((content) => (content ?? '') !== '');
  if (said.length === 0) return contents[0];
  if (said.every((content) => typeof content === 'string')) return said.join('\n\n');
  return said.flatMap((content): readonly unknown[] =>
    Array.isArray(content) ? content : [{ type: 'text', text: content }],
  );
}

/** As the models write it themselves. */
function withThoughts(content: unknown, reasoning: string): unknown {
  if (reasoning.trim() === '') return content;
  const thoughts = `<think>\n${reasoning}\n</think>\n\n`;
  if (Array.isArray(content)) return [{ type: 'text', text: thoughts }, ...(content as unknown[])];
  return thoughts + textOf(content);
}

function withStringContent(message: JsonObject): JsonObject {
  const { content } = message;
  if (
    !Array.isArray(content) ||
    !content.every((part) => isObject(part) && part['type'] === 'text')
  )
    return message;
  return { ...message, content: content.map(({ text }) => text as unknown).join('\n') };
}
