// Reads Chat Completions plainly: the first choice, whole or in chunks.
import {
  failedReading,
  joinTexts,
  readArguments,
  type Counts,
  type Json,
  type Reading,
} from './reading.ts';

/** `events`: a stream's chunks, or the single body of a whole answer. */
export function readChat(events: readonly Json[]): Reading {
  if (events.some((event) => event['error'])) return failedReading;
  const choices = events.flatMap((event) =>
    ((event['choices'] ?? []) as Json[]).filter((choice) => (choice['index'] ?? 0) === 0),
  );
  const reason = choices.map((choice) => choice['finish_reason']).findLast(Boolean) as unknown;
  if (brokenReasons.includes(reason)) return failedReading;
  // Perplexity sends an empty `delta` beside a whole message.
  const isWhole = events.length === 1 && Boolean(choices[0]?.['message']);
  const messages = choices.map((choice) => (choice[isWhole ? 'message' : 'delta'] ?? {}) as Json);
  const details = messages.flatMap((message) => (message['reasoning_details'] ?? []) as Json[]);
  const whole = joinTexts(messages.map((message) => readContent(message['content'])));
  const given =
    joinTexts(messages.map(readThought)) ||
    joinTexts(details.map((detail) => detail['text'] ?? detail['summary']));
  const { reasoning, text } = given ? { reasoning: given, text: whole } : splitTags(whole);
  const refusal = joinTexts(messages.map((message) => message['refusal']));
  const calls = readCalls(messages);
  const pages = messages
    .flatMap((message) => (message['annotations'] ?? []) as Json[])
    // OpenRouter also tells which files it has read.
    .filter((annotation) => annotation['type'] !== 'file')
    .map((annotation) => annotation['url_citation'].url as string);
  const listed = events.map((event) => event['citations'] as unknown).findLast(Boolean);
  return {
    text: text + refusal,
    reasoning,
    signatures: details.flatMap(
      (detail) => detail['signature'] ?? detail['data'] ?? [],
    ) as string[],
    calls,
    pages: pages.length > 0 ? pages : ((listed ?? []) as string[]),
    stop: readStop(reason, { calls: calls.length > 0, refusal }),
    usage: readUsage(
      events.map((event) => event['usage'] ?? event['x_groq']?.usage).findLast(Boolean),
    ),
  };
}

/** Models without a parser behind them write their thoughts at the start of the text. */
function splitTags(whole: string): { readonly reasoning: string; readonly text: string } {
  const [tagged, reasoning] = /^\s*<think>\s*([\s\S]*?)(?:\s*<\/think>\s*|$)/.exec(whole) ?? [''];
  return { reasoning: reasoning ?? '', text: whole.slice(tagged.length) };
}

/** Finish reasons of DeepSeek, vLLM and OpenRouter for an aborted answer. */
const brokenReasons: readonly unknown[] = ['insufficient_system_resource', 'abort', 'error'];

/** Mistral's thinking models send a list of parts. */
export function readContent(content: unknown, type = 'text'): string {
  if (typeof content === 'string') return type === 'text' ? content : '';
  const parts = ((content ?? []) as Json[]).filter((part) => part['type'] === type);
  return joinTexts(parts.map((part) => (type === 'text' ? part['text'] : readContent(part[type]))));
}

function readThought(message: Json): unknown {
  return (
    message['reasoning_content'] ??
    message['reasoning'] ??
    readContent(message['content'], 'thinking')
  );
}

type GatheredCall = { readonly id: string; name: string; text: string };

/** The tool calls of one choice: of its deltas, or of its message. */
export function gatherCalls(messages: readonly Json[]): readonly GatheredCall[] {
  const calls: GatheredCall[] = [];
  const byPlace = new Map<number, GatheredCall>();
  for (const message of messages) {
    for (const [place, call] of ((message['tool_calls'] ?? []) as Json[]).entries()) {
      const called = (call['function'] ?? call['custom'] ?? {}) as Json;
      const id = (call['id'] ?? '') as string;
      const known = byPlace.get(call['index'] ?? place);
      // Gemini's compatible endpoint gives every call the index 0.
      const isSame = known && (!id || !called['name'] || id === known.id);
      const gathered = isSame ? known : { id, name: '', text: '' };
      if (!isSame) calls.push(gathered);
      byPlace.set(call['index'] ?? place, gathered);
      gathered.name ||= called['name'] ?? '';
      const text: unknown = called['arguments'] ?? called['input'] ?? '';
      gathered.text += typeof text === 'string' ? text : JSON.stringify(text);
    }
  }
  return calls;
}

function readCalls(messages: readonly Json[]): Reading['calls'] {
  return gatherCalls(messages).map(({ name, text }) => ({ name, arguments: readArguments(text) }));
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
  // xAI counts reasoning in addition to the completion, as its total shows.
  const beside = usage['total_tokens'] - usage['prompt_tokens'] - usage['completion_tokens'];
  const prompt = (usage['prompt_tokens'] ?? 0) as number;
  // Mistral counts the tokens of recordings apart.
  const audio = (usage['prompt_tokens_details']?.audio_tokens ?? 0) as number;
  const cached = [
    usage['prompt_tokens_details']?.cached_tokens,
    usage['num_cached_tokens'],
    usage['prompt_cache_hit_tokens'],
    usage['cached_tokens'],
  ].map((count) => (count ?? 0) as number);
  return {
    input: prompt + (beside > 0 && beside === audio ? audio : 0),
    // Grok on Azure says 161 of 10.
    cacheRead: Math.min(Math.max(...cached), prompt),
    cacheWrite: usage['prompt_tokens_details']?.cache_write_tokens ?? 0,
    output:
      (usage['completion_tokens'] ?? 0) + (beside > 0 && beside === reasoning ? reasoning : 0),
    reasoning,
  };
}
