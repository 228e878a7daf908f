// Reads Messages plainly: a whole message, or a stream's blocks by index.
import {
  failedReading,
  joinTexts,
  readArguments,
  type Call,
  type Counts,
  type Json,
  type Reading,
} from './reading.ts';

export function readMessage(message: Json): Reading {
  if (message['type'] === 'error') return failedReading;
  return readBlocks(message['content'] as Json[], message, message['usage'] ?? {});
}

/** Events up to the first `message_stop`, because a request has one answer. */
export function readMessageStream(events: readonly Json[]): Reading {
  const blocks: Json[] = [];
  let end: Json = {};
  const usage: Json = {};
  for (const event of events) {
    if (event['type'] === 'error') return failedReading;
    if (event['type'] === 'message_start') Object.assign(usage, event['message'].usage);
    if (event['type'] === 'content_block_start')
      blocks[event['index']] = { ...event['content_block'], citations: [] };
    if (event['type'] === 'content_block_delta') addDelta(blocks[event['index']]!, event['delta']);
    if (event['type'] === 'message_delta') {
      end = event['delta'] as Json;
      addCounts(usage, (event['usage'] ?? {}) as Json);
    }
    if (event['type'] === 'message_stop') break;
  }
  return readBlocks(blocks, end, usage);
}

/** Some hosts omit from the last event the input that the first one counted. */
function addCounts(usage: Json, added: Json): void {
  const countsInput =
    added['cache_read_input_tokens'] > 0 || added['cache_creation_input_tokens'] > 0;
  for (const [name, count] of Object.entries(added))
    if (count !== null && !(count === 0 && usage[name] > 0 && !countsInput)) usage[name] = count;
}

const deltaFields = {
  text_delta: 'text',
  thinking_delta: 'thinking',
  signature_delta: 'signature',
} as const;

function addDelta(block: Json, delta: Json): void {
  const field = deltaFields[delta['type'] as keyof typeof deltaFields];
  if (field) block[field] = (block[field] ?? '') + delta[field];
  if (delta['type'] === 'citations_delta') block['citations'].push(delta['citation']);
  if (delta['type'] === 'input_json_delta')
    block['json'] = (block['json'] ?? '') + delta['partial_json'];
}

/** `end`: the stop reason, and the text of a refusal. */
function readBlocks(blocks: readonly Json[], end: Json, usage: Json): Reading {
  const of = (type: string) => blocks.filter((block) => block['type'] === type);
  const signed = [
    ...of('thinking').map((block) => block['signature']),
    ...of('redacted_thinking').map((block) => block['data']),
  ];
  return {
    text: joinTexts([
      ...of('text').map((block) => block['text'].replace(imageNote, '')),
      end['stop_details']?.explanation,
    ]),
    reasoning: joinTexts(of('thinking').map((block) => block['thinking'])),
    signatures: signed.filter(Boolean) as string[],
    calls: of('tool_use').map(readCall),
    pages: of('text')
      .flatMap((block) => (block['citations'] ?? []) as Json[])
      .flatMap((citation) => (citation['url'] ?? citation['source'] ?? []) as string),
    stop: stops[end['stop_reason'] as keyof typeof stops] ?? 'end',
    usage: readUsage(usage),
  };
}

/** It stands for an image, which other formats have beside their text. */
const imageNote = /\[The model made an image here, which the Messages format cannot carry[^\]]*\]/;

const stops = {
  tool_use: 'tools',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'filter',
  pause_turn: 'pause',
} as const;

/**
 * Arguments that are not a JSON object are sent as text under this name, as the gateway documents.
 */
function readCall(block: Json): Call {
  const input: unknown = block['json'] ? readArguments(block['json'] as string) : block['input'];
  const raw = (input as Json | null)?.['invalid_json_arguments'] as unknown;
  return { name: block['name'], arguments: typeof raw === 'string' ? raw : input };
}

function readUsage(usage: Json): Counts | null {
  if (usage['input_tokens'] === undefined) return null;
  const cacheRead = (usage['cache_read_input_tokens'] ?? 0) as number;
  const cacheWrite = (usage['cache_creation_input_tokens'] ?? 0) as number;
  return {
    input: usage['input_tokens'] + cacheRead + cacheWrite,
    cacheRead,
    cacheWrite,
    output: usage['output_tokens'],
    reasoning: usage['output_tokens_details']?.thinking_tokens ?? 0,
  };
}
