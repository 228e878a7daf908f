// Recorded answers of Cohere's own Chat reach the clients of all formats complete, however the bytes are
// split, at what Cohere bills.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asCompletion, toServerSentEvents } from '../src/providers/cohere/answer.ts';
import { loadCloudRecordings } from './support/cloud-recordings.ts';
import { answerContext, clientNames, openPipe, playStream, writeWhole } from './support/pipes.ts';
import { assertAgrees, readPlainly } from './support/plain/read-plainly.ts';
import {
  eventsOf,
  joinTexts,
  readArguments,
  type Json,
  type Reading,
} from './support/plain/reading.ts';

const answers = loadCloudRecordings('hosts/cohere').filter(
  ({ status, path }) => status === 200 && path === '/v2/chat',
);

/** As Cohere's documentation has it: what is billed, and the plan of calls as reasoning. */
function readWhole({ message, finish_reason: reason, usage }: Json): Reading {
  const blocks = (message.content ?? []) as Json[];
  const sources = ((message.citations ?? []) as Json[]).flatMap(
    ({ sources: all }) => all as Json[],
  );
  const { billed_units: billed, tokens } = usage as Json;
  return {
    text: joinTexts(blocks.map(({ text }) => text as unknown)),
    reasoning: joinTexts([message.tool_plan, ...blocks.map(({ thinking }) => thinking as unknown)]),
    signatures: [],
    calls: ((message.tool_calls ?? []) as Json[]).map(({ function: called }) => ({
      name: called.name as string,
      arguments: readArguments(called.arguments),
    })),
    pages: sources.flatMap(
      (source) => (source.document ?? source.tool_output)?.url ?? [],
    ) as string[],
    stop: reason === 'TOOL_CALL' ? 'tools' : reason === 'MAX_TOKENS' ? 'length' : 'end',
    usage: {
      input: billed.input_tokens as number,
      cacheRead: 0,
      cacheWrite: 0,
      output: billed.output_tokens as number,
      reasoning: (tokens.reasoning_tokens ?? 0) as number,
    },
  };
}

/** The whole answer that the events of a stream add up to. */
function gather(events: readonly Json[]): Json {
  const message: Json = { tool_plan: '', content: [], tool_calls: [], citations: [] };
  let end: Json = {};
  for (const { type, index, delta } of events) {
    const {
      content,
      tool_plan: plan,
      tool_calls: call,
      citations,
    } = (delta?.message ?? {}) as Json;
    if (type === 'content-start') message.content[index] = { text: '', thinking: '' };
    if (type === 'content-delta') {
      message.content[index].text += content.text ?? '';
      message.content[index].thinking += content.thinking ?? '';
    }
    if (type === 'tool-plan-delta') message.tool_plan += plan;
    if (type === 'tool-call-start') message.tool_calls[index] = structuredClone(call);
    if (type === 'tool-call-delta')
      message.tool_calls[index].function.arguments += call.function.arguments;
    if (type === 'citation-start') message.citations.push(citations);
    if (type === 'message-end') end = delta as Json;
  }
  return { message, ...end };
}

async function asChat(pieces: Iterable<Uint8Array>): Promise<Uint8Array> {
  async function* chunks() {
    yield* pieces;
  }
  return Buffer.concat(await Array.fromAsync(toServerSentEvents(chunks())));
}

for (const { file, bytes } of answers) {
  const isStream = file.endsWith('.sse');
  test(`${file} reaches the clients of all formats`, async () => {
    const text = bytes.toString('utf8');
    const recorded = readWhole(isStream ? gather(eventsOf(text)) : (JSON.parse(text) as Json));
    assert.ok(recorded.text !== '' || recorded.calls.length > 0);
    const chat = isStream ? await asChat([bytes]) : null;
    if (chat) assert.deepEqual(await asChat(Array.from(bytes, (byte) => Buffer.of(byte))), chat);
    for (const client of clientNames) {
      const context = answerContext(client);
      const received = chat
        ? playStream(openPipe('chat', client, context), [chat]).text
        : JSON.stringify(writeWhole('chat', client, asCompletion(JSON.parse(text)), context));
      assertAgrees(readPlainly(client, isStream, received), recorded, client);
    }
  });
}
