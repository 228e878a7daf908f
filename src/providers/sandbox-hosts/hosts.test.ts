import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textPart, userTurn } from '../../../tests/support/canonical/parts.ts';
import { emptyRequest } from '../../../tests/support/canonical/empty-request.ts';
import { TestClock } from '../../../tests/support/test-clock.ts';
import { AnswerCollector, type Answer } from '../../canonical/answer.ts';
import type { UpstreamFormatName } from '../../terms/format-name.ts';
import type { CanonicalRequest } from '../../canonical/request.ts';
import { UpstreamBroken } from '../../canonical/upstream-broken.ts';
import type { UpstreamTarget } from '../../formats/format.ts';
import { upstreamFormats } from '../../formats/registry.ts';
import { SseParser } from '../../lib/sse.ts';
import { playExchange } from '../sandbox/play-exchange.ts';

const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const tool = {
  name: 'get_weather',
  description: 'Weather',
  parameters,
  strict: null,
  kind: 'function',
} as const;

function ask(text: string, fields: Partial<CanonicalRequest> = {}): CanonicalRequest {
  return { ...emptyRequest, messages: [userTurn(text)], ...fields };
}

function send(format: UpstreamFormatName, request: CanonicalRequest, stream: boolean) {
  const model = {
    responses: 'gpt-6-luna',
    chat: 'kimi-k3',
    messages: 'claude-haiku-4-5',
    gemini: 'gemini-3.6-flash',
    converse: 'openai.gpt-oss-120b-1:0',
  }[format];
  const target: UpstreamTarget = {
    model,
    stream,
    maxOutputTokens: 2_000,
    thinking: true,
    isOpenAi: false,
  };
  return playExchange({
    format,
    body: JSON.stringify(upstreamFormats[format].writeRequest(request, target).body),
    stream,
    requestId: 'one',
    model,
    maxInputTokens: 1_000,
    maxOutputTokens: 2_000,
    thinking: true,
    signal: new AbortController().signal,
    clock: new TestClock(),
  });
}

/** Sends a body as a client wrote it. */
function sendBody(format: UpstreamFormatName, body: object, maxOutputTokens = 2_000) {
  return playExchange({
    format,
    body: JSON.stringify(body),
    stream: false,
    requestId: 'one',
    model: 'any',
    maxInputTokens: 10_000,
    maxOutputTokens,
    thinking: true,
    signal: new AbortController().signal,
    clock: new TestClock(),
  });
}

const bytes = 'AAAA';
const results: readonly (readonly [UpstreamFormatName, object])[] = [
  [
    'messages',
    {
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: {} }] },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'a',
              content: [
                { type: 'text', text: 'seen' },
                { type: 'image', source: { type: 'base64', media_type: 'image/png', data: bytes } },
              ],
            },
          ],
        },
      ],
    },
  ],
  [
    'converse',
    {
      messages: [
        { role: 'assistant', content: [{ toolUse: { toolUseId: 'a', name: 'look', input: {} } }] },
        {
          role: 'user',
          content: [
            {
              toolResult: {
                toolUseId: 'a',
                content: [{ text: 'seen' }, { image: { format: 'png', source: { bytes } } }],
              },
            },
          ],
        },
      ],
    },
  ],
  ...[{ output: 'seen' }, { result: 'seen' }, { view: 'seen' }].map(
    (response) =>
      [
        'gemini',
        {
          contents: [
            { role: 'model', parts: [{ functionCall: { id: 'a', name: 'look', args: {} } }] },
            {
              role: 'user',
              parts: [
                {
                  functionResponse: {
                    id: 'a',
                    name: 'look',
                    response,
                    parts: [{ inlineData: { mimeType: 'image/png', data: bytes } }],
                  },
                },
              ],
            },
          ],
        },
      ] as const,
  ),
];

for (const [format, body] of results) {
  test(`a result is quoted, and its image counted, as ${format} has them: ${JSON.stringify(body).slice(-125)}`, async () => {
    const reply = await sendBody(format, body);
    assert.ok(reply.kind === 'answer', JSON.stringify(reply));
    const { content, usage } = upstreamFormats[format].readAnswer(reply.body);
    assert.match(
      JSON.stringify(content),
      /The tool look returned: (?:seen|\{\\+"view\\+":\\+"seen\\+"\})/,
    );
    assert.equal(Math.floor(usage!.inputTokens / 1_600), 1);
  });
}

test('an input item of Responses with a type of null is a message', async () => {
  const reply = await sendBody('responses', {
    input: [{ type: null, role: 'user', content: 'Hi' }],
  });
  assert.match(JSON.stringify(reply), /You said: Hi/);
});

test('choices, and tokens with log probabilities, are so many in sum', async () => {
  const outputOf = async (fields: object) => {
    const messages = [{ role: 'user', content: 'sandbox: tokens=200000' }];
    const reply = await sendBody('chat', { messages, max_tokens: 200_000, ...fields }, 500_000);
    assert.ok(reply.kind === 'answer', JSON.stringify(reply));
    return upstreamFormats.chat.readAnswer(reply.body).usage!.outputTokens;
  };
  assert.equal(await outputOf({}), 200_000);
  assert.equal(await outputOf({ n: 128 }), 128 * 1_024);
  assert.equal(await outputOf({ logprobs: true }), 4_096);
  assert.equal(await outputOf({ logprobs: true, n: 128 }), 128 * 32);
});

/** The answer as the gateway reads it. */
async function answerOf(
  format: UpstreamFormatName,
  request: CanonicalRequest,
  stream: boolean,
): Promise<Answer> {
  const reply = await send(format, request, stream);
  if (reply.kind === 'answer') return upstreamFormats[format].readAnswer(reply.body);
  assert.ok(reply.kind === 'stream', JSON.stringify(reply));
  const [collector, reader, parser] = [
    new AnswerCollector(),
    upstreamFormats[format].readStream(),
    new SseParser(),
  ];
  for await (const chunk of reply.chunks) {
    for (const event of parser.push(chunk).flatMap((frame) => reader.push(frame)))
      collector.push(event);
  }
  for (const event of reader.end()) collector.push(event);
  return collector.answer!;
}

const formats = ['responses', 'chat', 'messages', 'gemini', 'converse'] as const;
const requests: Readonly<Record<string, CanonicalRequest>> = {
  text: ask('Hello', { system: [textPart('Be brief.')] }),
  'thinking and two calls': ask(
    'sandbox: think=Hm.\nsandbox: tool=get_weather {"city":"Oslo"}\nsandbox: tool=get_weather {"city":"Rome"}',
    { tools: [tool], reasoning: { effort: 'low', budgetTokens: null } },
  ),
  'exact tokens': ask('sandbox: tokens=500'),
  'a schema': ask('Hi', {
    outputFormat: {
      type: 'json-schema',
      name: 'a',
      description: null,
      schema: parameters,
      strict: null,
    },
  }),
  'a forced call': ask('Hi', { tools: [tool], toolChoice: { type: 'required' } }),
  'JSON mode': ask('Hi', { outputFormat: { type: 'json' } }),
  'no usage': ask('sandbox: usage=none'),
};

for (const [what, request] of Object.entries(requests)) {
  test(`all simulated hosts give the same answer, whole and streamed: ${what}`, async () => {
    const answers = await Promise.all(
      formats.flatMap((format) =>
        [false, true].map(async (stream) => answerOf(format, request, stream)),
      ),
    );
    const [first] = answers;
    for (const { content, stop, usage } of answers) {
      assert.deepEqual(content.map(plain), first!.content.map(plain));
      assert.equal(stop.reason, first!.stop.reason);
      assert.equal(usage?.outputTokens, first!.usage?.outputTokens);
    }
    assert.equal(first!.usage === null, what === 'no usage');
  });
}

/** Without signatures and the spelling of arguments, which differ by format. */
function plain(part: Answer['content'][number]): unknown {
  return part.type === 'tool-call'
    ? [part.name, JSON.parse(part.arguments)]
    : [part.type, 'text' in part ? part.text : null];
}

for (const format of formats) {
  test(`the simulated ${format} host fails with a status, breaks off, and refuses an overlong prompt`, async () => {
    const failed = await send(format, ask('sandbox: status=529'), true);
    assert.ok(
      failed.kind === 'failure' &&
        failed.failure.status === 529 &&
        failed.failure.retryAfterSeconds === 1,
    );
    const broken = await send(format, ask('sandbox: cut_after=3'), false);
    assert.ok(broken.kind === 'failure' && broken.failure.kind === 'broken-stream');
    await assert.rejects(answerOf(format, ask('sandbox: cut_after=3'), true), UpstreamBroken);
    const overlong = await send(format, ask('word '.repeat(1_000)), false);
    assert.ok(overlong.kind === 'failure' && /maximum context/.test(overlong.failure.message));
  });
}

for (const format of formats) {
  test(`the simulated ${format} host thinks when it is asked to`, async () => {
    const { content } = await answerOf(
      format,
      ask('Hi', { reasoning: { effort: 'low', budgetTokens: null } }),
      false,
    );
    assert.equal(content[0]?.type, 'thinking');
    const unasked = await answerOf(format, ask('Hi'), false);
    assert.equal(unasked.content[0]?.type, 'text');
  });
}

test('the simulated OpenAI host shows reasoning as a summary, only to who asks, and says when it completed', async () => {
  const thinking = ask('sandbox: think=Hm.', { reasoning: { effort: 'low', budgetTokens: null } });
  const frames = async (request: CanonicalRequest) => {
    const reply = await send('responses', request, true);
    assert.ok(reply.kind === 'stream');
    const parser = new SseParser();
    const types: string[] = [];
    let last = {};
    for await (const chunk of reply.chunks)
      for (const { data } of parser.push(chunk)) {
        const event = JSON.parse(data) as { type: string; response?: object };
        types.push(event.type);
        last = event.response ?? last;
      }
    return { types, last: last as { completed_at: unknown; output: { summary: unknown }[] } };
  };
  const shown = await frames(thinking);
  assert.ok(!shown.types.some((type) => type.startsWith('response.reasoning_text')));
  assert.deepEqual(
    shown.types.filter((type) => type.includes('summary') && !type.endsWith('delta')),
    [
      'response.reasoning_summary_part.added',
      'response.reasoning_summary_text.done',
      'response.reasoning_summary_part.done',
    ],
  );
  assert.deepEqual(shown.last.output[0]!.summary, [{ type: 'summary_text', text: 'Hm.' }]);
  assert.equal(typeof shown.last.completed_at, 'number');
  const hidden = await frames(ask('sandbox: think=Hm.'));
  assert.ok(!hidden.types.some((type) => type.includes('summary')));
  assert.deepEqual(hidden.last.output[0]!.summary, []);
});
