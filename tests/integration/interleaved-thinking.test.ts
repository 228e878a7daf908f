// Claude thinks between texts and calls, and refuses a turn whose blocks return in another order.
// Chat has only one text and one list of calls, so a Chat client that sends `reasoning_details`
// back unchanged restores the order of all blocks.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startGateway } from '../support/gateway.ts';
import { eventsOf, type Json } from '../support/plain/reading.ts';
import { answerJson, answerSse, type SseFrame } from '../support/upstream.ts';

const gateway = await startGateway();
const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 50 });
after(() => gateway.stop());

const thinking = (text: string) => ({
  type: 'thinking',
  thinking: text,
  signature: `c2ln${Buffer.from(text).toString('base64')}`,
});
const text = (words: string) => ({ type: 'text', text: words });
const call = (name: string) => ({
  type: 'tool_use',
  id: `toolu_${name}`,
  name,
  input: { of: name },
});
const hidden = { type: 'redacted_thinking', data: 'aGlkZGVu' };

const turns: Readonly<Record<string, readonly Json[]>> = {
  'first, as without interleaving': [thinking('a'), text('Hello.'), call('one'), call('two')],
  'between two texts': [
    thinking('a'),
    text('First. 😀 '),
    thinking('b'),
    text('Second.'),
    call('one'),
  ],
  'between calls': [thinking('a'), call('one'), thinking('b'), call('two')],
  'ahead of a call, behind a text': [text('Let me see.'), thinking('a'), call('one')],
  'hidden, and twice in a row': [
    thinking('a'),
    text('So.'),
    hidden,
    thinking('b'),
    call('one'),
    hidden,
    call('two'),
  ],
};

for (const [name, content] of Object.entries(turns)) {
  for (const stream of [false, true]) {
    test(`thinking ${name}, ${stream ? 'streamed' : 'whole'}, returns to its place`, async () => {
      gateway.upstream.on(
        '/v1/messages',
        stream ? answerSse(framesOf(content)) : answerJson(messageOf(content)),
      );
      const question = { role: 'user', content: 'Go' };
      const tools = ['one', 'two'].map((tool) => ({
        type: 'function',
        function: { name: tool, parameters: { type: 'object', properties: {} } },
      }));
      const ask = async (messages: readonly Json[], fields: object) => {
        const body = {
          model: 'claude-sonnet-4-5',
          reasoning_effort: 'low',
          max_completion_tokens: 4_000,
          tools,
          messages,
          ...fields,
        };
        const reply = await gateway.post('/v1/chat/completions', { key, body });
        assert.equal(reply.status, 200, reply.text);
        return reply.text;
      };
      const reply = await ask([question], { stream });
      const message = stream
        ? collectMessage(eventsOf(reply))
        : (JSON.parse(reply) as Json)['choices'][0].message;
      const results = message['tool_calls'].map(({ id }: Json) => ({
        role: 'tool',
        tool_call_id: id,
        content: 'done',
      }));
      gateway.upstream.on('/v1/messages', answerJson(messageOf([text('Done.')])));
      await ask([question, message, ...results], {});
      const { messages } = gateway.upstream.requests.at(-1)!.body as Json;
      assert.deepEqual(messages[1], { role: 'assistant', content });
    });
  }
}

function messageOf(content: readonly Json[]): object {
  const usage = { input_tokens: 5, output_tokens: 9 };
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content,
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage,
  };
}

function framesOf(content: readonly Json[]): SseFrame[] {
  const event = (type: string, fields: object) => ({ event: type, data: { type, ...fields } });
  const blocks = content.flatMap((block, index) => {
    const { type, text: words, thinking: thought, signature, input } = block;
    const empty = {
      ...block,
      ...(type === 'text' && { text: '' }),
      ...(type === 'thinking' && { thinking: '', signature: '' }),
      ...(input && { input: {} }),
    };
    const deltas = [
      ...(words === undefined ? [] : [{ type: 'text_delta', text: words }]),
      ...(thought === undefined
        ? []
        : [
            { type: 'thinking_delta', thinking: thought },
            { type: 'signature_delta', signature },
          ]),
      ...(input === undefined
        ? []
        : [{ type: 'input_json_delta', partial_json: JSON.stringify(input) }]),
    ];
    return [
      event('content_block_start', { index, content_block: empty }),
      ...deltas.map((delta) => event('content_block_delta', { index, delta })),
      event('content_block_stop', { index }),
    ];
  });
  return [
    event('message_start', { message: { ...messageOf([]), stop_reason: null } }),
    ...blocks,
    event('message_delta', {
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: { output_tokens: 9 },
    }),
    event('message_stop', {}),
  ];
}

/** Collects a stream as clients do: texts joined, details appended, calls by index. */
function collectMessage(events: readonly Json[]): Json {
  const message: Json = { role: 'assistant', content: '', reasoning_details: [], tool_calls: [] };
  for (const { choices } of events) {
    const { content, reasoning_details: details, tool_calls: calls } = choices[0]?.delta ?? {};
    message['content'] += content ?? '';
    message['reasoning_details'].push(...(details ?? []));
    for (const { index, ...piece } of calls ?? []) {
      const known = (message['tool_calls'][index] ??= piece);
      if (known !== piece) known.function.arguments += piece.function.arguments;
    }
  }
  return message;
}
