// A plain reading of Chat Completions: the first choice, whole or in chunks.
import { failedReading, joinTexts, readArguments, type Counts, type Json, type Reading } from './reading.ts';

/** `events`: the chunks of a stream, or the one body of a whole answer. */
export function readChat(events: readonly Json[]): Reading {
  if (events.some((event) => event['error'])) return failedReading;
  const choices = events.flatMap((event) =>
    ((event['choices'] ?? []) as Json[]).filter((choice) => (choice['index'] ?? 0) === 0),
  );
  const messages = choices.map((choice) => (choice['delta'] ?? choice['message'] ?? {}) as Json);
  const details = messages.flatMap((message) => (message['reasoning_details'] ?? []) as Json[]);
  const reasoning = joinTexts(messages.map((message) => message['reasoning_content'] ?? message['reasoning']));
  const refusal = joinTexts(messages.map((message) => message['refusal']));
  const calls = readCalls(messages);
  return {
    text: joinTexts(messages.map((message) => message['content'])) + refusal,
    reasoning: reasoning || joinTexts(details.map((detail) => detail['text'] ?? detail['summary'])),
    signatures: details.flatMap((detail) => detail['signature'] ?? detail['data'] ?? []) as string[],
    calls,
    stop: readStop(choices.map((choice) => choice['finish_reason']).findLast(Boolean), { calls: calls.length > 0, refusal }),
    usage: readUsage(events.map((event) => event['usage']).findLast(Boolean)),
  };
}

function readCalls(messages: readonly Json[]): Reading['calls'] {
  const calls = new Map<number, { name: string; text: string }>();
  for (const message of messages) {
    for (const [place, call] of ((message['tool_calls'] ?? []) as Json[]).entries()) {
      const called = (call['function'] ?? call['custom'] ?? {}) as Json;
      const known = calls.get(call['index'] ?? place) ?? { name: '', text: '' };
      known.name ||= called['name'] ?? '';
      known.text += called['arguments'] ?? called['input'] ?? '';
      calls.set(call['index'] ?? place, known);
    }
  }
  return [...calls.values()].map(({ name, text }) => ({ name, arguments: readArguments(text) }));
}

function readStop(reason: unknown, has: { calls: boolean; refusal: string }): Reading['stop'] {
  if (reason === 'length') return 'length';
  if (reason === 'content_filter') return 'filter';
  if (reason === 'tool_calls' || has.calls) return 'tools';
  return has.refusal === '' ? 'end' : 'filter';
}

function readUsage(usage: Json | undefined): Counts | null {
  if (!usage) return null;
  const reasoning = (usage['completion_tokens_details']?.reasoning_tokens ?? 0) as number;
  // xAI counts its reasoning beside the completion, as its total shows.
  const beside = usage['total_tokens'] - usage['prompt_tokens'] - usage['completion_tokens'];
  return {
    input: usage['prompt_tokens'],
    cacheRead: usage['prompt_tokens_details']?.cached_tokens ?? usage['prompt_cache_hit_tokens'] ?? usage['cached_tokens'] ?? 0,
    cacheWrite: usage['prompt_tokens_details']?.cache_write_tokens ?? 0,
    output: usage['completion_tokens'] + (beside > 0 && beside === reasoning ? reasoning : 0),
    reasoning,
  };
}
