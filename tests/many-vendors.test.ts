// One conversation that changes its vendor on each turn, stored by a client of each format: every
// vendor gets its own signatures back byte for byte, and no other vendor gets them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventsOf, type Answer } from '../src/canonical/answer.ts';
import { lowerCustomTools } from '../src/formats/adapting/custom-tools.ts';
import type { ClientFormatName, UpstreamFormatName } from '../src/terms/format-name.ts';
import type { UpstreamTarget } from '../src/formats/format.ts';
import { clientFormats, upstreamFormats } from '../src/formats/registry.ts';

type Json = Record<string, unknown>;
type Vendor = {
  readonly upstream: UpstreamFormatName;
  readonly model: string;
  readonly secret: string;
  readonly answer: object;
};

const args = { city: 'Paris "ü" 😀' };
const claude: Vendor = {
  upstream: 'messages',
  model: 'claude-opus-4-8',
  secret: 'CLAUDE+sig/AB==',
  answer: {
    content: [
      { type: 'thinking', thinking: 'Claude’s thought', signature: 'CLAUDE+sig/AB==' },
      { type: 'tool_use', id: 'toolu_1', name: 'weather', input: args },
    ],
    stop_reason: 'tool_use',
    usage: { input_tokens: 9, output_tokens: 9 },
  },
};
const gpt: Vendor = {
  upstream: 'responses',
  model: 'gpt-5.2',
  secret: 'GPT+enc/CD==',
  answer: {
    id: 'resp_1',
    status: 'completed',
    output: [
      {
        id: 'rs_1',
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'GPT’s thought' }],
        encrypted_content: 'GPT+enc/CD==',
      },
      {
        id: 'fc_1',
        type: 'function_call',
        call_id: `call_${'x'.repeat(59)}`,
        name: 'weather',
        arguments: JSON.stringify(args),
      },
    ],
    usage: { input_tokens: 9, output_tokens: 9, total_tokens: 18 },
  },
};
const gemini: Vendor = {
  upstream: 'gemini',
  model: 'gemini-3-pro-preview',
  secret: 'GEMINI+thought/EF==',
  answer: {
    responseId: 'response-1234',
    candidates: [
      {
        finishReason: 'STOP',
        content: {
          parts: [
            { text: 'Gemini’s thought', thought: true },
            { functionCall: { name: 'weather', args }, thoughtSignature: 'GEMINI+thought/EF==' },
          ],
        },
      },
    ],
    usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 9 },
  },
};
const weatherCall = {
  id: 'call_1',
  type: 'function',
  function: { name: 'weather', arguments: JSON.stringify(args) },
};
const xai = { format: 'xai-responses-v1', index: 0 };
const grok = chatVendor('x-ai/grok-4.3', 'GROK+enc/GH==', [
  { type: 'reasoning.summary', summary: 'The thought', ...xai },
  { type: 'reasoning.encrypted', data: 'GROK+enc/GH==', ...xai },
]);
const kimi = chatVendor('kimi-k3', 'KIMI+enc/IJ==', [
  { index: 0, type: 'summary', summary: 'The thought' },
  { index: 1, type: 'encrypted', encrypted: 'KIMI+enc/IJ==' },
]);
const vendors = [claude, gpt, gemini, grok, kimi];
const turns = [...vendors, ...vendors, claude];

function chatVendor(model: string, secret: string, details: readonly Json[]): Vendor {
  const message = {
    role: 'assistant',
    content: null,
    reasoning_content: 'The thought',
    reasoning_details: details,
    tool_calls: [weatherCall],
  };
  const choices = [{ index: 0, message, finish_reason: 'tool_calls' }];
  const usage = { prompt_tokens: 9, completion_tokens: 9 };
  return { upstream: 'chat', model, secret, answer: { id: 'c', choices, usage } };
}

/** A client of each format stores a conversation by appending answers unchanged. */
type Kept = {
  readonly history: unknown[];
  readonly body: (history: unknown[]) => Json;
  readonly keep: (answer: Json) => void;
};

function keeperOf(client: ClientFormatName): Kept {
  const history: unknown[] = [{ role: 'user', content: 'How is the weather?' }];
  const parameters = { type: 'object', properties: { city: { type: 'string' } } };
  const tool = { name: 'weather', parameters };
  switch (client) {
    case 'responses':
      return {
        history,
        body: (input) => ({
          input,
          tools: [{ type: 'function', ...tool }],
          reasoning: { effort: 'low' },
        }),
        keep: (answer) => {
          const output = answer.output as Json[];
          history.push(...output);
          for (const { type, call_id: id } of output) {
            if (type === 'function_call')
              history.push({ type: 'function_call_output', call_id: id, output: 'Sun' });
          }
        },
      };
    case 'chat':
      return {
        history,
        body: (messages) => ({ messages, tools: [{ type: 'function', function: tool }] }),
        keep: (answer) => {
          const { message } = (answer.choices as [{ message: Json }])[0];
          history.push(message);
          for (const { id } of message.tool_calls as Json[])
            history.push({ role: 'tool', tool_call_id: id, content: 'Sun' });
        },
      };
    default:
      return {
        history,
        body: (messages) => ({
          messages,
          max_tokens: 9_000,
          tools: [{ name: 'weather', input_schema: parameters }],
        }),
        keep: (answer) => {
          const content = answer.content as Json[];
          const results = content
            .filter(({ type }) => type === 'tool_use')
            .map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'Sun' }));
          history.push({ role: 'assistant', content }, { role: 'user', content: results });
        },
      };
  }
}

/** One request from the client to the vendor and back, as in the gateway. */
function ask(
  client: ClientFormatName,
  { upstream, model, answer }: Vendor,
  body: Json,
): { sent: string; received: Json } {
  const format = clientFormats[client];
  const request = format.parseRequest({ model, ...body }, { chatMaxTokens: null });
  const target: UpstreamTarget = {
    model,
    stream: false,
    maxOutputTokens: 9_000,
    thinking: true,
    isOpenAi: false,
  };
  const context = { requestId: 'r1', model, createdAtSeconds: 1, request, estimatedInputTokens: 9 };
  if (client === upstream) {
    const sent = JSON.stringify(format.relay.writeRequest(request, target).body);
    return { sent, received: format.relay.relayAnswer(structuredClone(answer), context).body };
  }
  const written = upstreamFormats[upstream].writeRequest(
    lowerCustomTools(format.readRequest(request)).request,
    target,
  );
  const received = format.writeAnswer(upstreamFormats[upstream].readAnswer(answer), context);
  return { sent: JSON.stringify(written.body), received: received };
}

for (const client of ['responses', 'chat', 'messages'] as const) {
  test(`${client}: each vendor gets only its own signatures back`, () => {
    const { history, body, keep } = keeperOf(client);
    const seen = new Map<Vendor, number>();
    for (const [index, vendor] of turns.entries()) {
      const { sent, received } = ask(
        client,
        vendor,
        body(JSON.parse(JSON.stringify(history)) as unknown[]),
      );
      for (const { secret } of vendors.filter((other) => other !== vendor)) {
        assert.ok(!sent.includes(secret), `turn ${index}: ${vendor.model} is not shown ${secret}`);
      }
      const times = sent.split(vendor.secret).length - 1;
      assert.equal(
        times,
        seen.get(vendor) ?? 0,
        `turn ${index}: ${vendor.model} gets each of its signatures once`,
      );
      seen.set(vendor, (seen.get(vendor) ?? 0) + 1);
      keep(received);
    }
  });
}

test('a Chat client that keeps only a call’s own fields and `extra_content` still returns Google’s signature', () => {
  const { history, body, keep } = keeperOf('chat');
  keep(ask('chat', gemini, body(history)).received);
  const [message] = history.filter((kept) => (kept as Json).role === 'assistant') as [Json];
  delete message.reasoning_details;
  delete message.reasoning_content;
  assert.deepEqual((message.tool_calls as Json[])[0]!.extra_content, {
    google: { thought_signature: gemini.secret },
  });
  const { sent } = ask('chat', gemini, body(history));
  assert.ok(sent.includes(`"thoughtSignature":"${gemini.secret}"`));
});

test('a stream shows Google’s signature beside the call too', () => {
  const { body, history } = keeperOf('chat');
  const request = clientFormats.chat.parseRequest(
    { model: 'm', ...body(history) },
    { chatMaxTokens: null },
  );
  const context = {
    requestId: 'r1',
    model: 'm',
    createdAtSeconds: 1,
    request,
    estimatedInputTokens: 9,
  };
  const pipe = clientFormats.chat.writeStream(context);
  const answer: Answer = upstreamFormats.gemini.readAnswer(gemini.answer);
  const frames = [...eventsOf(answer)].map((event) => pipe.push(event)).join('');
  assert.ok(
    frames.includes(`"extra_content":{"google":{"thought_signature":"${gemini.secret}"}}`),
    frames,
  );
});

test('Gemini behind a Chat host gets its signature back through a client of another format', () => {
  const call = { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{}' } };
  const signed = { ...call, extra_content: { google: { thought_signature: gemini.secret } } };
  const host = (upstream: Vendor['upstream'], model: string): Vendor => ({
    upstream,
    model,
    secret: gemini.secret,
    answer: {
      choices: [{ message: { content: null, tool_calls: [signed] }, finish_reason: 'tool_calls' }],
    },
  });
  const { body, history, keep } = keeperOf('messages');
  keep(ask('messages', host('chat', 'google/gemini-3-pro'), body(history)).received);
  const { sent } = ask('messages', host('chat', 'google/gemini-3-pro'), body(history));
  assert.ok(sent.includes(JSON.stringify(signed.extra_content)), sent);
  const elsewhere = ask('messages', host('chat', 'deepseek-chat'), body(history));
  assert.ok(!elsewhere.sent.includes(gemini.secret), 'and no other host does');
});

test('on the straight path a host gets neither another vendor’s signatures nor ids that it refuses', () => {
  const { body, history, keep } = keeperOf('chat');
  for (const vendor of vendors) keep(ask('chat', vendor, body(history)).received);
  const host = {
    upstream: 'chat',
    model: 'mistral-large',
    secret: '',
    answer: { choices: [{ message: { content: 'x' } }] },
  } as const;
  const { sent } = ask('chat', host, body(history));
  for (const { secret } of vendors) assert.ok(!sent.includes(secret), secret);
  const { messages } = JSON.parse(sent) as {
    messages: { tool_call_id?: string; tool_calls?: { id: string }[] }[];
  };
  const calls = messages.flatMap((message) => (message.tool_calls ?? []).map(({ id }) => id));
  assert.equal(calls.length, vendors.length);
  for (const id of calls) assert.match(id, /^[a-zA-Z0-9]{9}$/);
  assert.deepEqual(
    messages.flatMap(({ tool_call_id: id }) => id ?? []),
    calls,
    'each result has its call',
  );
});
