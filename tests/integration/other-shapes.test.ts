// Requests in the shape of another client or host: Responses bodies and flat tools at the Chat
// address, and answers that come back with fields that no request has.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { answerContent } from '../support/answers.ts';
import { startLoopGateway } from '../support/loop-gateway.ts';
import type { JsonObject } from '../../src/lib/json.ts';

const loop = await startLoopGateway();
const answer = answerContent('chat', { text: 'Sunny.', tokens: { input: 20, output: 5 } });
loop.gateway.upstream.on('/v1/chat/completions', answer);
after(() => loop.gateway.stop());

/** `gpt-5.4` is asked in the client's own format. How tools are read is tested in `tool-shapes`. */
const models = ['on-messages', 'on-gemini', 'gpt-5.4'];
const chatPath = '/v1/chat/completions';
const schema = { type: 'object', properties: { q: { type: 'string' } } };
const flatCustom = {
  type: 'custom',
  name: 'ApplyPatch',
  description: 'p',
  format: { type: 'grammar', syntax: 'lark', definition: 'start: /.+/' },
};

async function post(path: string, body: JsonObject) {
  const reply = await loop.gateway.post(path, { key: loop.key, body });
  assert.equal(reply.status, 200, reply.text);
  const ignored = String(reply.headers['x-service-ignored'] ?? '').split(', ');
  const sent = loop.gateway.upstream.requests.at(-1)!.body as JsonObject;
  return { reply, ignored, sent };
}

for (const model of models) {
  describe(`on ${model}`, () => {
    test('a Responses body at the Chat address is answered as Chat', async () => {
      const body = {
        model,
        user: 'u',
        input: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: [{ type: 'input_text', text: 'Weather?' }] },
          { type: 'function_call', call_id: 'c1', name: 'read_file', arguments: '{"q":"a"}' },
          { type: 'function_call_output', call_id: 'c1', output: 'in the file', status: 'done' },
        ],
        tools: [
          { type: 'function', name: 'read_file', description: 'd', parameters: schema },
          flatCustom,
        ],
        reasoning: { effort: 'medium', summary: 'auto' },
        text: { verbosity: 'low' },
        store: false,
        truncation: 'auto',
        brand_new: 1,
        include: ['reasoning.encrypted_content'],
        stream_options: { include_usage: true },
        prompt_cache_retention: '24h',
        metadata: { cursorConversationId: 'c' },
      };
      const whole = await post(chatPath, { ...body, stream: false });
      assert.equal((JSON.parse(whole.reply.text) as JsonObject)['object'], 'chat.completion');
      for (const name of ['truncation', 'brand_new'])
        assert.ok(whole.ignored.includes(name), `${name} in ${whole.ignored.join()}`);
      const streamed = await post(chatPath, { ...body, stream: true });
      assert.match(streamed.reply.text, /"object":"chat\.completion\.chunk"[\s\S]*data: \[DONE\]/);
      for (const { sent } of [whole, streamed]) {
        const text = JSON.stringify(sent);
        for (const said of ['Be brief.', 'Weather?', 'in the file', 'read_file', 'ApplyPatch'])
          assert.ok(text.includes(said), `${said} in ${text}`);
        assert.ok(!text.includes('brand_new'));
      }
    });

    test('calls and results as blocks of Messages at the Chat address are treated as Chat’s own', async () => {
      const image = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' };
      const result = (id: string, content: unknown) => ({
        type: 'tool_result',
        tool_use_id: id,
        content,
        is_error: true,
      });
      const ask = (messages: readonly JsonObject[]) =>
        post(chatPath, {
          model,
          messages: [{ role: 'user', content: 'Read both.' }, ...messages],
          tools: [{ name: 'read_file', description: 'd', input_schema: schema }],
        });
      const { sent, ignored } = await ask([
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Let me.' },
            { type: 'tool_use', id: 'toolu_1', name: 'read_file', input: { q: 'a' } },
            { type: 'tool_use', id: 'toolu_2', name: 'read_file', input: { q: 'b' } },
          ],
        },
        {
          role: 'user',
          content: [
            result('toolu_1', [{ type: 'text', text: 'in a' }]),
            { type: 'text', text: 'And this?' },
            result('toolu_2', 'in b'),
            { type: 'image', source: image },
          ],
        },
      ]);
      const own = await ask([
        {
          role: 'assistant',
          content: [{ type: 'text', text: 'Let me.' }],
          tool_calls: ['a', 'b'].map((q, index) => ({
            id: `toolu_${index + 1}`,
            type: 'function',
            function: { name: 'read_file', arguments: JSON.stringify({ q }) },
          })),
        },
        { role: 'tool', tool_call_id: 'toolu_1', content: [{ type: 'text', text: 'in a' }] },
        { role: 'tool', tool_call_id: 'toolu_2', content: 'in b' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'And this?' },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${image.data}` } },
          ],
        },
      ]);
      assert.deepEqual(sent, own.sent);
      assert.ok(ignored.includes('messages.is_error'), ignored.join());
      // A turn of calls only, answered by results only.
      const bare = await ask([
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'toolu_1', name: 'read_file', input: {} }],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1' }] },
      ]);
      assert.match(JSON.stringify(bare.sent), /read_file/);
    });

    test('an answer of the OpenAI Agents SDK comes back with fields in the wrong places', async () => {
      const call = {
        id: 'call_1',
        type: 'function',
        function: { name: 'get_weather', arguments: '{"q":"a"}' },
      };
      const variants = [
        { annotations: [{ type: 'x' }] },
        { role: 'assistant', refusal: null, tool_calls: [call] },
        { index: 1, logprobs: { content: [] } },
      ];
      for (const extra of variants) {
        const { sent, ignored } = await post(chatPath, {
          model,
          tools: [{ type: 'function', function: { name: 'get_weather', parameters: schema } }],
          messages: [
            { role: 'user', content: 'x' },
            {
              id: 'msg_1',
              index: 2,
              role: 'assistant',
              reasoning_content: 'Hm.',
              content: [{ type: 'text', text: 'Let me.', ...extra }],
              tool_calls: [{ ...call, logprobs: 3 }],
            },
            { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
          ],
        });
        const text = JSON.stringify(sent);
        assert.ok(text.includes('Let me.') && text.includes('sunny'), text);
        assert.doesNotMatch(text, /annotations|logprobs|msg_1/);
        const [name] = Object.keys(extra);
        for (const path of [`content.${name}`, 'id', 'index', 'tool_calls.logprobs'])
          assert.ok(ignored.includes(`messages.${path}`), `${path} in ${ignored.join()}`);
      }
    });

    test('the fields that Codex adds for its operator’s account are left out and listed', async () => {
      const { sent, ignored } = await post('/v1/responses', {
        model,
        input: [{ role: 'user', content: 'x' }],
        access_programs: { cyber: 'standard' },
        background: false,
        tools: [{ type: 'function', function: { name: 'f', parameters: schema } }],
        tool_choice: { type: 'function', function: { name: 'f' } },
      });
      assert.ok(ignored.includes('access_programs'), ignored.join());
      assert.ok(!('access_programs' in sent));
    });
  });
}

test('a Responses body at the Chat address may name its limits as Chat does', async () => {
  const body = { model: 'gpt-5.4', input: 'x' };
  for (const [fields, limit] of [
    [{ max_output_tokens: 77 }, 77],
    [{ max_tokens: 78 }, 78],
    [{ max_completion_tokens: 79, n: 2 }, 79],
  ] as const) {
    const { sent, ignored } = await post(chatPath, { ...body, ...fields });
    assert.deepEqual([sent['max_completion_tokens'], ignored], [limit, ['']]);
    assert.equal(sent['n'], 'n' in fields ? fields.n : undefined);
  }
  const tooMany = { key: loop.key, body: { ...body, max_tokens: 3_000 } };
  assert.equal((await loop.gateway.post(chatPath, tooMany)).error.param, 'max_tokens');
});

test('a block of Messages that cannot be read is refused by its place', async () => {
  for (const block of [
    { type: 'tool_use', id: 'toolu_1', name: 'f', input: 'text' },
    { type: 'tool_result', tool_use_id: 7 },
  ]) {
    const messages = [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: [block] },
    ];
    const reply = await loop.gateway.post(chatPath, {
      key: loop.key,
      body: { model: 'gpt-5.4', messages },
    });
    assert.equal(reply.status, 400, reply.text);
    assert.equal(reply.error.param, 'messages[1].content[0].type');
  }
});

test('a Responses body at the Chat address is refused by the names of its own fields', async () => {
  for (const [fields, message] of [
    [{ input: [{ role: 'nobody', content: 'x' }] }, /^input\[0\]\.role must/],
    [{ input: 'x', temperature: 3 }, /^temperature must/],
    [{ input: 'x', background: true }, /^background keeps/],
    [{}, /^messages is required/],
  ] as const) {
    const body = { model: 'gpt-5.4', ...fields };
    const reply = await loop.gateway.post(chatPath, { key: loop.key, body });
    assert.equal(reply.status, 400, reply.text);
    assert.match(reply.error.message, message);
  }
});
