// Reads Responses plainly: a whole response, or a stream's finished items and last event.
import {
  failedReading,
  joinTexts,
  readArguments,
  type Call,
  type Counts,
  type Json,
  type Reading,
} from './reading.ts';

const lastEvents = ['response.completed', 'response.incomplete', 'response.failed', 'error'];

/** Events up to the first final one, because a request has one answer. */
export function readResponseStream(events: readonly Json[]): Reading {
  const last = events.find((event) => lastEvents.includes(event['type'] as string));
  const response = last?.['response'] as Json | undefined;
  if (!response) return failedReading;
  const done = events
    .slice(0, events.indexOf(last!))
    .filter((event) => event['type'] === 'response.output_item.done');
  const items = done.toSorted((one, other) => one['output_index'] - other['output_index']);
  // A host may encrypt reasoning again in each event; the finished item counts.
  return readResponse(
    items.length > 0
      ? { ...response, output: items.map((event) => event['item'] as Json) }
      : response,
  );
}

export function readResponse(response: Json): Reading {
  if (response['error'] || response['status'] === 'failed') return failedReading;
  const items = response['output'] as Json[];
  const of = (type: string) => items.filter((item) => item['type'] === type);
  const parts = of('message').flatMap((item) => item['content'] as Json[]);
  const calls = items.flatMap(readCall);
  return {
    text: joinTexts(parts.map((part) => part['text'] ?? part['refusal'])),
    reasoning: joinTexts(of('reasoning').map(readReasoning)),
    signatures: of('reasoning').flatMap((item) => item['encrypted_content'] ?? []) as string[],
    calls,
    pages: parts
      .flatMap((part) => (part['annotations'] ?? []) as Json[])
      .flatMap(({ type, url }) => (type === 'url_citation' ? [url as string] : [])),
    stop: readStop(response, {
      calls: calls.length > 0,
      refusal: parts.some((part) => part['type'] === 'refusal'),
    }),
    usage: readUsage(response['usage']),
  };
}

function readCall(item: Json): Call[] {
  if (item['type'] === 'function_call')
    return [{ name: item['name'], arguments: readArguments(item['arguments']) }];
  return item['type'] === 'custom_tool_call'
    ? [{ name: item['name'], arguments: item['input'] }]
    : [];
}

/** The raw text if the host shows it; otherwise the summary's sections, one paragraph each. */
function readReasoning(item: Json): string {
  const texts = (name: string) =>
    ((item[name] ?? []) as Json[]).map((section) => section['text'] as string);
  return joinTexts(texts('content')) || texts('summary').join('\n\n');
}

function readStop(response: Json, has: { calls: boolean; refusal: boolean }): Reading['stop'] {
  if (response['status'] === 'incomplete') {
    return response['incomplete_details']?.reason === 'content_filter' ? 'filter' : 'length';
  }
  if (has.calls) return 'tools';
  return has.refusal ? 'filter' : 'end';
}

function readUsage(usage: Json | null | undefined): Counts | null {
  if (!usage) return null;
  return {
    input: usage['input_tokens'],
    cacheRead: usage['input_tokens_details']?.cached_tokens ?? 0,
    cacheWrite: usage['input_tokens_details']?.cache_write_tokens ?? 0,
    output: usage['output_tokens'],
    reasoning: usage['output_tokens_details']?.reasoning_tokens ?? 0,
  };
}
