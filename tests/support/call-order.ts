// What each vendor demands of calls and results in a conversation, as a list of breaches.
import type { UpstreamFormatName } from '../../src/terms/format-name.ts';
import { isObject, type JsonObject } from '../../src/lib/json.ts';

type Block = JsonObject;

/** Returns the breaches of the format's rules in a body that is sent to a vendor. */
export function findOrderBreaches(format: UpstreamFormatName, body: JsonObject): string[] {
  switch (format) {
    case 'chat':
      return ofChat(objects(body.messages));
    case 'messages':
      return ofMessages(objects(body.messages));
    case 'responses':
      return ofResponses(objects(body.input));
    case 'gemini':
      return ofGemini(objects(body.contents));
    case 'converse':
      return ofConverse(objects(body.messages));
  }
}

function objects(list: unknown): Block[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

/** OpenAI: each call has one tool message, right behind its message, and nothing else is there. */
function ofChat(messages: readonly Block[]): string[] {
  const breaches: string[] = [];
  let open: unknown[] = [];
  for (const [index, message] of [...messages, { role: 'end' } as Block].entries()) {
    if (message.role === 'tool') {
      const place = open.indexOf(message.tool_call_id);
      if (place === -1) breaches.push(`${index}: a tool message without its call`);
      else open.splice(place, 1);
    } else if (open.length > 0) breaches.push(`${index}: ${open.length} calls without results`);
    if (message.role !== 'tool') open = objects(message.tool_calls).map(({ id }) => id);
    if (Array.isArray(message.tool_calls) && message.tool_calls.length === 0)
      breaches.push(`${index}: empty tool_calls`);
    if (Array.isArray(message.content) && message.content.length === 0)
      breaches.push(`${index}: empty content`);
    if (message.role === 'tool' && objects(message.content).some(({ type }) => type !== 'text'))
      breaches.push(`${index}: a tool message with more than text`);
  }
  return breaches;
}

/** Mistral's table of roles. */
export function findMistralBreaches(body: JsonObject): string[] {
  const followers: Record<string, readonly string[]> = {
    system: ['user', 'assistant', 'system'],
    user: ['assistant', 'system', 'user'],
    assistant: ['assistant', 'user', 'tool'],
    tool: ['assistant', 'tool'],
  };
  const roles = objects(body.messages).map(({ role }) => String(role));
  return roles.flatMap((role, index) => {
    const before = roles[index - 1];
    return before === undefined || followers[before]!.includes(role) ? [] : [`${before}, ${role}`];
  });
}

/** Anthropic joins neighbours; results come first in the turn behind their calls. */
function ofMessages(messages: readonly Block[]): string[] {
  const breaches: string[] = [];
  const turns: { role: unknown; blocks: Block[] }[] = [];
  for (const { role, content } of messages) {
    const blocks =
      typeof content === 'string' ? [{ type: 'text', text: content }] : objects(content);
    if (blocks.length === 0) breaches.push('an empty message');
    for (const { type, text } of blocks)
      if (type === 'text' && String(text).trim() === '') breaches.push('a blank text');
    if (turns.at(-1)?.role === role) turns.at(-1)!.blocks.push(...blocks);
    else turns.push({ role, blocks: [...blocks] });
  }
  for (const [index, { role, blocks }] of turns.entries()) {
    const before = role === 'user' ? (turns[index - 1]?.blocks ?? []) : [];
    const calls = idsOf(before, 'tool_use', 'id');
    const results = idsOf(blocks, 'tool_result', 'tool_use_id');
    if (role !== 'user' && results.length > 0) breaches.push(`${index}: misplaced results`);
    if (role === 'user' && !isSame(calls, results))
      breaches.push(`${index}: results ${results.join()} of calls ${calls.join()}`);
    if (
      blocks
        .slice(0, results.length)
        .some(({ type }) => results.length > 0 && type !== 'tool_result')
    )
      breaches.push(`${index}: results are not first`);
    const isLast = index === turns.length - 1;
    if (isLast && idsOf(blocks, 'tool_use', 'id').length > 0) breaches.push('ends with calls');
  }
  return breaches;
}

/** OpenAI: each call has an output behind it, and each output a call before it. */
function ofResponses(items: readonly Block[]): string[] {
  const calls = new Set<string>();
  const open = new Set<string>();
  const breaches: string[] = [];
  for (const { type, call_id: callId } of items) {
    const id = String(callId);
    if (type === 'function_call' || type === 'custom_tool_call') {
      calls.add(id);
      open.add(id);
    } else if (type === 'function_call_output' || type === 'custom_tool_call_output') {
      if (!calls.has(id)) breaches.push(`an output without its call ${id}`);
      open.delete(id);
    }
  }
  return [...breaches, ...[...open].map((id) => `no output for ${id}`)];
}

/** Converse: turns alternate, and results come first in the turn behind their calls. */
function ofConverse(messages: readonly Block[]): string[] {
  const idsIn = (message: Block | undefined, name: string) =>
    objects(message?.content).flatMap((block) =>
      isObject(block[name]) ? String(block[name]['toolUseId']) : [],
    );
  return messages.flatMap((message, index) => {
    const before = messages[index - 1];
    const breaches: string[] = [];
    if (before?.role === message.role)
      breaches.push(`${index}: two turns of ${String(message.role)}`);
    const [calls, results] = [idsIn(before, 'toolUse'), idsIn(message, 'toolResult')];
    if (message.role === 'user' && !isSame(calls, results))
      breaches.push(`${index}: results ${results.join()} of calls ${calls.join()}`);
    if (objects(message.content).some(({ text }) => typeof text === 'string' && !text.trim()))
      breaches.push(`${index}: a blank text`);
    return breaches;
  });
}

/** Gemini: a turn with calls is followed by as many responses. */
function ofGemini(contents: readonly Block[]): string[] {
  const counts = contents.map(({ parts }) => ({
    calls: objects(parts).filter((part) => 'functionCall' in part).length,
    responses: objects(parts).filter((part) => 'functionResponse' in part).length,
  }));
  return counts.flatMap(({ responses, calls }, index) => {
    const wanted = counts[index - 1]?.calls ?? 0;
    const isOpen = calls > 0 && index === counts.length - 1;
    return responses === wanted && !isOpen ? [] : [`${index}: ${responses} of ${wanted}`];
  });
}

function idsOf(blocks: readonly Block[], type: string, field: string): string[] {
  return blocks.filter((block) => block.type === type).map((block) => String(block[field]));
}

function isSame(first: readonly string[], second: readonly string[]): boolean {
  return first.toSorted().join() === second.toSorted().join();
}
