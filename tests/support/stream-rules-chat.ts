// Rules of a Chat Completions stream. Hosts cut answers into chunks differently, so on the straight
// path only these rules remain: a chunk's shape, a single model, the usage, and the end.
import assert from 'node:assert/strict';
import type { StreamFacts, StreamReading } from './stream-rules.ts';
import {
  checkCost,
  checkError,
  readJson,
  type EventFrame,
  type Json,
} from './stream-rules-frames.ts';

export function checkChat(
  frames: readonly EventFrame[],
  { usageAsked = false, straight = false }: StreamFacts,
): StreamReading {
  for (const { event } of frames) assert.equal(event, null, 'Chat has data lines only');
  const last = frames.at(-1);
  assert.ok(last, 'an empty stream');
  const isDone = last.data === '[DONE]';
  const chunks = frames.slice(0, -1).map(readJson);
  for (const chunk of chunks) assert.ok(!('error' in chunk), 'nothing comes after an error');
  if (!isDone) checkError(readJson(last).error, 'chat');
  checkHeads(chunks, straight);
  if (usageAsked && isDone) checkUsage(chunks, straight);
  else if (!usageAsked) assertNoUsage(chunks);
  const choices = readChoices(chunks, straight);
  if (isDone && !straight) checkEnd(choices);
  assert.ok(!isDone || choices.size > 0, 'an answer has a choice');
  return { ending: isDone ? 'success' : 'error', text: choices.get(0)?.text ?? '' };
}

function checkHeads(chunks: readonly Json[], straight: boolean): void {
  assert.ok(new Set(chunks.map((chunk) => chunk['model'])).size <= 1, 'all chunks name one model');
  for (const chunk of chunks)
    assert.ok(Array.isArray(chunk['choices']) || straight, 'a chunk has choices');
  if (straight) return;
  for (const field of ['id', 'created', 'object']) {
    assert.ok(
      new Set(chunks.map((chunk) => chunk[field])).size <= 1,
      `all chunks have one ${field}`,
    );
  }
  for (const { object, created } of chunks) {
    assert.equal(object, 'chat.completion.chunk');
    assert.ok(Number.isInteger(created));
  }
}

function assertNoUsage(chunks: readonly Json[]): void {
  assert.deepEqual(
    chunks.filter((chunk) => chunk['usage']),
    [],
    'nobody asked for the usage',
  );
}

/** The usage comes once, at the end, in its own chunk. */
function checkUsage(chunks: readonly Json[], straight: boolean): void {
  const counted = chunks.filter((chunk) => chunk['usage']);
  assert.equal(counted.length, 1, `the usage comes once: ${counted.length}`);
  const { usage, choices } = counted[0]!;
  for (const field of ['prompt_tokens', 'completion_tokens', 'total_tokens'])
    assert.ok(Number.isInteger(usage[field]), field);
  checkCost(usage);
  assert.equal(counted[0], chunks.at(-1), 'the usage comes last');
  assert.deepEqual(choices, [], 'the usage has its own chunk');
  if (straight) return;
  assert.equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens);
  for (const chunk of chunks.slice(0, -1)) assert.equal(chunk['usage'], null);
}

type ToolCall = { id: unknown; name: unknown; arguments: string };
type Choice = { text: string; finishReason: string | null; readonly calls: ToolCall[] };

function readChoices(chunks: readonly Json[], straight: boolean): Map<number, Choice> {
  const choices = new Map<number, Choice>();
  for (const piece of chunks.flatMap((chunk) => (chunk['choices'] ?? []) as Json[])) {
    const index = (piece['index'] ?? 0) as number;
    const known = choices.get(index);
    const choice = known ?? { text: '', finishReason: null, calls: [] };
    choices.set(index, choice);
    if (!straight) checkPiece(piece, choice, known === undefined);
    choice.text += piece['delta']?.content ?? '';
    choice.finishReason = piece['finish_reason'] ?? choice.finishReason;
  }
  return choices;
}

function checkPiece(
  { delta, finish_reason: finishReason }: Json,
  choice: Choice,
  isFirst: boolean,
): void {
  assert.equal(choice.finishReason, null, 'nothing comes after the finish');
  assert.equal(delta.role, isFirst ? 'assistant' : undefined, 'the role comes first, and once');
  assert.notEqual(finishReason, undefined, 'every choice says whether it has finished');
  if (finishReason !== null) assert.deepEqual(delta, {}, 'the finish reason has its own chunk');
  for (const fragment of (delta.tool_calls ?? []) as Json[]) checkFragment(fragment, choice.calls);
}

/**
 * Calls come one after the other, indexed without gaps. Only their first fragment has id, type and
 * name.
 */
function checkFragment({ index, id, type, ...kinds }: Json, calls: ToolCall[]): void {
  const body = (kinds['function'] ?? kinds['custom']) as Json;
  const text = (body['arguments'] ?? body['input']) as unknown;
  assert.equal(typeof text, 'string', 'a fragment carries text');
  if (index === calls.length) {
    assert.ok(typeof id === 'string' && id !== '', 'a call has an id');
    assert.ok(!calls.some((call) => call.id === id), 'ids of calls differ');
    assert.ok(type === 'function' || type === 'custom', `a call has a type: ${type}`);
    assert.ok(typeof body['name'] === 'string' && body['name'] !== '', 'a call has a name');
    calls.push({ id, name: body['name'], arguments: text as string });
    return;
  }
  assert.equal(index, calls.length - 1, 'calls do not overlap, and are numbered without gaps');
  assert.deepEqual(
    [id, type, body['name']],
    [undefined, undefined, undefined],
    'a call is named once',
  );
  calls.at(-1)!.arguments += text as string;
}

function checkEnd(choices: ReadonlyMap<number, Choice>): void {
  const reasons = ['stop', 'length', 'tool_calls', 'content_filter', 'function_call'];
  for (const { finishReason, calls } of choices.values()) {
    assert.ok(finishReason !== null, 'every choice has finished');
    if (finishReason === 'tool_calls' || calls.length === 0) continue;
    assert.ok(
      reasons.includes(finishReason) && finishReason !== 'stop',
      `calls, and the finish is ${finishReason}`,
    );
  }
}
