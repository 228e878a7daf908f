// Reasoning of Chat hosts reaches clients of the other formats so that they can bring it back: a
// signature in Messages, `encrypted_content` in Responses, streamed and whole.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClientFormatName } from '../src/terms/format-name.ts';
import { clientFormats, upstreamFormats } from '../src/formats/registry.ts';
import { parseSse } from './support/formats/sse.ts';
import { answerContext, openPipe, playStream, writeWhole } from './support/pipes.ts';
import type { Json } from './support/plain/reading.ts';

const message = { role: 'assistant', reasoning_content: 'THOUGHT', content: 'ok' };
const body = {
  id: 'c',
  choices: [{ index: 0, message, finish_reason: 'stop' }],
  usage: { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 },
};
const deltas = [
  { role: 'assistant', reasoning_content: 'THO' },
  { reasoning_content: 'UGHT' },
  { content: 'ok' },
];
const bytes = Buffer.from(
  [
    ...deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] })),
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: body.usage },
  ]
    .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
    .join('') + 'data: [DONE]\n\n',
);

function stream(client: ClientFormatName): Json[] {
  const { text } = playStream(openPipe('chat', client, answerContext(client)), [bytes]);
  return parseSse(text).map(({ data }) => JSON.parse(data) as Json);
}

/** Returns the assistant message that the host gets in the next turn. */
function nextTurn(client: ClientFormatName, fields: Json, model: string): Json {
  const format = clientFormats[client];
  const request = format.parseRequest({ model, ...fields }, { chatMaxTokens: null });
  const target = { model, stream: false, maxOutputTokens: 99, thinking: true, isOpenAi: false };
  const written = upstreamFormats.chat.writeRequest(format.readRequest(request), target);
  const messages = written.body.messages as Json[];
  return messages.find(({ role }) => role === 'assistant')!;
}

const user = { role: 'user', content: 'x' };

test('a streamed thinking block of a Messages client ends with the signature of the whole answer', () => {
  const events = stream('messages').filter(({ index }) => index === 0);
  const [signed, stop] = events.slice(-2);
  assert.equal(stop!.type, 'content_block_stop');
  assert.equal(signed!.delta.type, 'signature_delta');
  const [block] = writeWhole('chat', 'messages', body, answerContext('messages'))!
    .content as Json[];
  assert.notEqual(signed!.delta.signature, '');
  assert.deepEqual(block, {
    type: 'thinking',
    thinking: 'THOUGHT',
    signature: signed!.delta.signature,
  });
  const content = [block, { type: 'text', text: 'ok' }];
  const messages = [user, { role: 'assistant', content }, user];
  const returned = nextTurn('messages', { max_tokens: 9, messages }, 'deepseek-v4-pro');
  assert.equal(returned.reasoning_content, 'THOUGHT');
  const relayed = clientFormats.messages.relay.writeRequest(
    clientFormats.messages.parseRequest(
      { model: 'm', max_tokens: 9, messages },
      { chatMaxTokens: null },
    ),
    { model: 'claude', stream: false, maxOutputTokens: 9, thinking: true, isOpenAi: false },
  );
  assert.deepEqual(relayed.ignored, ['thinking'], 'Anthropic does not get a signature of ours');
});

for (const model of ['deepseek-v4-pro', 'kimi-k3', 'glm-5.3']) {
  test(`${model} gets its reasoning back from a Responses client that keeps only encrypted_content`, () => {
    const { response } = stream('responses').at(-1)!;
    const whole = writeWhole('chat', 'responses', body, answerContext('responses'))!;
    for (const output of [response.output, whole.output] as Json[][]) {
      const [reasoning, ...rest] = output;
      assert.deepEqual(reasoning!.content, [{ type: 'reasoning_text', text: 'THOUGHT' }]);
      const { content: _, ...kept } = reasoning!;
      const returned = nextTurn('responses', { input: [user, kept, ...rest, user] }, model);
      assert.equal(returned.reasoning_content, 'THOUGHT');
    }
    const [item] = whole.output as Json[];
    const relayed = clientFormats.responses.relay.writeRequest(
      clientFormats.responses.parseRequest(
        { model: 'm', input: [user, item, user] },
        { chatMaxTokens: null },
      ),
      { model: 'gpt-5.4', stream: false, maxOutputTokens: 9, thinking: true, isOpenAi: true },
    );
    assert.deepEqual(relayed.ignored, ['input[1]'], 'OpenAI does not get another host’s reasoning');
  });
}
