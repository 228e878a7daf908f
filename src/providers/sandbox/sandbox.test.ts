import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  assistantTurn,
  callPart,
  resultPart,
  systemTurn,
  textPart,
  thinkingPart,
  toolTurn,
  userTurn,
} from '../../../tests/support/canonical/parts.ts';
import { Check } from 'typebox/schema';
import fc from '../../../tests/support/property.ts';
import { collect } from '../../../tests/support/canonical/answers.ts';
import type { Answer } from '../../canonical/answer.ts';
import type { StreamEvent, UpstreamFailure } from '../../canonical/event.ts';
import { isPending } from '../../../tests/support/is-pending.ts';
import { TestClock } from '../../../tests/support/test-clock.ts';
import { emptyRequest as emptyCanonical } from '../../../tests/support/canonical/empty-request.ts';
import type { Message, Tool } from '../../canonical/request.ts';
import { tokensFromBytes, utf8Length } from '../../lib/tokens-from-bytes.ts';
import type { SandboxOptions } from '../provider.ts';
import { failureOf as failureBehind } from './failures.ts';
import type { SandboxRequest } from './request.ts';
import { begin, play as playBegun } from './run.ts';
import { countInputTokens } from './usage.ts';

const emptyRequest: SandboxRequest = { ...emptyCanonical, asksToThink: false };
const weather: Tool = {
  name: 'get_weather',
  description: 'Weather of a place',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' }, unit: { enum: ['celsius', 'fahrenheit'] } },
    required: ['city', 'unit'],
  },
  strict: null,
  kind: 'function',
};
const shell: Tool = {
  name: 'shell',
  description: null,
  parameters: null,
  strict: null,
  kind: 'custom',
};

const user = (text: string): Message => userTurn(text);
const ask = (text: string, changes: Partial<SandboxRequest> = {}): SandboxRequest => ({
  ...emptyRequest,
  messages: [user(text)],
  ...changes,
});

const clock = new TestClock();
const image = { type: 'image', source: { kind: 'url', url: 'https://h/a.png' } } as const;

const usual: SandboxOptions = {
  model: 'm',
  maxInputTokens: 1_000_000,
  maxOutputTokens: 4_096,
  thinking: true,
  stream: true,
  signal: new AbortController().signal,
  clock,
};
type Options = Partial<SandboxOptions>;

/** A failure is the last event. */
async function* runSandbox(
  request: SandboxRequest,
  options: SandboxOptions,
): AsyncGenerator<StreamEvent> {
  try {
    yield* playBegun(await begin(request, options), options);
  } catch (error) {
    yield { type: 'error', failure: failureBehind(error, options) };
  }
}

function play(request: SandboxRequest, options: Options = {}): Promise<StreamEvent[]> {
  return Array.fromAsync(runSandbox(request, { ...usual, ...options }));
}

async function answerTo(request: SandboxRequest, options: Options = {}): Promise<Answer> {
  const events = await play(request, options);
  const answer = collect(events);
  assert.ok(answer, JSON.stringify(events.at(-1)));
  return answer;
}

async function failureOf(request: SandboxRequest, options: Options = {}): Promise<UpstreamFailure> {
  const last = (await play(request, options)).at(-1);
  assert.ok(last?.type === 'error', JSON.stringify(last));
  return last.failure;
}

const textOf = ({ content }: Answer): string =>
  content.map((part) => (part.type === 'text' ? part.text : '')).join('');
const callsOf = ({ content }: Answer) => content.filter((part) => part.type === 'tool-call');
const isDelta = (event: StreamEvent) => event.type.endsWith('-delta');

test('a whole answer is one piece, unless it has a pace or breaks off', async () => {
  const piecesOf = async (text: string) => {
    const events = await play(ask(text), { stream: false });
    return events.filter(({ type }) => type === 'text-delta').length;
  };
  assert.equal(await piecesOf('sandbox: tokens=4000'), 1);
  assert.equal(await piecesOf('sandbox: tokens=4000\nsandbox: cut_after=7'), 7);
});

test('images and documents are mentioned, and a very long message is quoted in part', async () => {
  const document = {
    type: 'document',
    source: { kind: 'url', url: 'https://example.com/a.pdf' },
  } as const;
  const look: Message = userTurn(image, 'Look.', image, document);
  assert.match(
    textOf(await answerTo({ ...emptyRequest, messages: [look] })),
    /^You said: Look\. \(with 2 images and 1 document\)\n/,
  );
  assert.match(
    textOf(await answerTo({ ...emptyRequest, messages: [userTurn(image)] })),
    /^You sent 1 image\./,
  );
  assert.match(textOf(await answerTo(emptyRequest)), /^You sent no text\./);
  const long = textOf(await answerTo(ask('🙂'.repeat(5_000))));
  assert.ok(
    long.includes(`${'🙂'.repeat(1_000)}…`) && !long.includes('\ufffd') && long.isWellFormed(),
  );
});

test('the same request gets the same events every time', async () => {
  const request = ask('sandbox: think=Hm.\nsandbox: tool=get_weather\nsandbox: tokens=40', {
    tools: [weather],
  });
  assert.deepEqual(await play(request), await play(request));
});

test('blocks follow the grammar of the canonical stream, and usage counts exactly the bytes of the deltas', async () => {
  const directive = fc.constantFrom(
    'think=Hm, well.',
    'tokens=50',
    'tool=get_weather',
    'tool=shell ls -l',
    'delay_ms=1',
  );
  const requests = fc.record({
    lines: fc.uniqueArray(directive),
    text: fc.string({ unit: 'grapheme' }).filter((text) => !/^\s*sandbox:/m.test(text)),
    limit: fc.integer({ min: 1, max: 80 }),
    stop: fc.array(fc.string({ maxLength: 3 }), { maxLength: 2 }),
  });
  await fc.assert(
    fc.asyncProperty(requests, async ({ lines, text, limit, stop }) => {
      const message = [text, ...lines.map((line) => `sandbox: ${line}`)].join('\n');
      const playing = play(ask(message, { tools: [weather, shell], stopSequences: stop }), {
        maxOutputTokens: limit,
      });
      await clock.advance(1);
      const events = await playing;
      const grammar = events.map(({ type }) => type).join(' ');
      assert.match(
        grammar,
        /^start (?:(text|thinking|tool-call)-start (?:\1-delta )*\1-end )*finish$/,
      );
      const bytes = events.reduce(
        (sum, event) => sum + ('text' in event ? utf8Length(event.text) : 0),
        0,
      );
      const finish = events.at(-1);
      assert.ok(finish?.type === 'finish' && finish.usage);
      assert.equal(finish.usage.outputTokens, tokensFromBytes(bytes));
      assert.ok(finish.usage.outputTokens <= limit);
      if (finish.stop.reason === 'length') assert.equal(finish.usage.outputTokens, limit);
    }),
  );
});

for (const tokens of [0, 1, 7, 500, 3_000]) {
  test(`\`sandbox: tokens=${tokens}\` gives exactly ${tokens} output tokens of readable words`, async () => {
    const answer = await answerTo(ask(`sandbox: tokens=${tokens}`));
    assert.equal(answer.usage?.outputTokens, tokens);
    assert.equal(utf8Length(textOf(answer)), tokens * 4);
    assert.match(textOf(answer), /^[\x20-\x7e]*$/);
    assert.equal(answer.stop.reason, 'end');
  });
}

test('`tokens` includes thinking and tool calls, and is refused when these alone exceed it', async () => {
  const answer = await answerTo(
    ask('sandbox: tokens=100\nsandbox: think=Let me see.\nsandbox: tool=get_weather', {
      tools: [weather],
    }),
  );
  assert.deepEqual(
    answer.content.map(({ type }) => type),
    ['thinking', 'text', 'tool-call'],
  );
  assert.equal(answer.usage?.outputTokens, 100);
  assert.equal(answer.usage?.reasoningTokens, 3);
  const failure = await failureOf(ask('sandbox: tokens=2\nsandbox: think=Far too much to think.'));
  assert.equal(failure.status, 400);
});

test('an answer over the output limit ends exactly at it, whatever bytes a character has', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'grapheme', minLength: 40, maxLength: 80 }),
      fc.integer({ min: 1, max: 10 }),
      async (text, limit) => {
        const answer = await answerTo(ask(text.replaceAll('sandbox', '')), {
          maxOutputTokens: limit,
        });
        assert.deepEqual(answer.stop, { reason: 'length', sequence: null });
        assert.equal(answer.usage?.outputTokens, limit);
        assert.equal(tokensFromBytes(utf8Length(textOf(answer))), limit);
        assert.ok(!textOf(answer).includes('\ufffd') || text.includes('\ufffd'));
      },
    ),
  );
  const own = await answerTo(ask('sandbox: tokens=500', { maxOutputTokens: 20 }));
  assert.deepEqual([own.stop.reason, own.usage?.outputTokens], ['length', 20]);
  const exact = await answerTo(ask('sandbox: tokens=500'), { maxOutputTokens: 500 });
  assert.deepEqual([exact.stop.reason, exact.usage?.outputTokens], ['end', 500]);
  const huge = await answerTo(ask('sandbox: tokens=10000000'), { maxOutputTokens: 30 });
  assert.deepEqual([huge.stop.reason, huge.usage?.outputTokens], ['length', 30]);
});

test('the answer ends before the stop sequence that completes first', async () => {
  const answer = await answerTo(
    ask('one two three', { stopSequences: ['two three', 'wo', '', 'absent'] }),
  );
  assert.equal(textOf(answer), 'You said: one t');
  assert.deepEqual(answer.stop, { reason: 'stop-sequence', sequence: 'wo' });
  const early = await answerTo(ask('hello', { stopSequences: ['You'] }));
  assert.deepEqual([early.content, early.usage?.outputTokens], [[], 0]);
  const cut = await answerTo(ask('one two three', { stopSequences: ['three'] }), {
    maxOutputTokens: 2,
  });
  assert.deepEqual(cut.stop, { reason: 'length', sequence: null });
});

test('`think` comes first as a thinking block and is counted as reasoning', async () => {
  const { content, usage } = await answerTo(ask('sandbox: think=The user wants the weather.\nHi'));
  assert.deepEqual(content[0], thinkingPart('The user wants the weather.'));
  assert.equal(content[1]?.type, 'text');
  assert.equal(usage?.reasoningTokens, 7);
});

test('a thinking model thinks when it is asked to', async () => {
  const hasThought = async (asksToThink: boolean, thinking: boolean) =>
    (await answerTo(ask('Hi', { asksToThink }), { thinking })).content[0]?.type === 'thinking';
  assert.deepEqual(
    [await hasThought(true, true), await hasThought(true, false), await hasThought(false, true)],
    [true, false, false],
  );
});

test('`tool` calls the tools of the request, several in parallel, with the arguments as written', async () => {
  const lines =
    'sandbox: tool=get_weather {"city": "Paris"}\nsandbox: tool=get_weather\nsandbox: tool=shell ls -l | wc';
  const answer = await answerTo(ask(lines, { tools: [weather, shell] }));
  assert.deepEqual(answer.stop, { reason: 'tool-calls', sequence: null });
  assert.deepEqual(answer.content, [
    callPart('call_sandbox_1', 'get_weather', '{"city": "Paris"}'),
    callPart('call_sandbox_2', 'get_weather', '{"city":"text","unit":"celsius"}'),
    callPart('call_sandbox_3', 'shell', 'ls -l | wc', 'custom'),
  ]);
  const events = await play(ask(lines, { tools: [weather, shell] }));
  assert.ok(
    events.filter(({ type }) => type === 'tool-call-delta').length > 3,
    'arguments are streamed in pieces',
  );
});

test('a missing tool, or arguments that are not a JSON object, are a 400 that says so', async () => {
  const unknown = await failureOf(ask('sandbox: tool=get_wether {}', { tools: [weather, shell] }));
  assert.deepEqual([unknown.kind, unknown.status], ['status', 400]);
  assert.equal(
    unknown.message,
    'The request defines no tool `get_wether`. It defines `get_weather`, `shell`.',
  );
  assert.match((await failureOf(ask('sandbox: tool=x'))).message, /It defines none\.$/);
  for (const input of ['{"city":', '["Paris"]', 'Paris']) {
    const failure = await failureOf(
      ask(`sandbox: tool=get_weather ${input}`, { tools: [weather] }),
    );
    assert.deepEqual([failure.status, /must be a JSON object/.test(failure.message)], [400, true]);
  }
});

test("the request's tool choice and parallel switch have the last word over directives", async () => {
  const two = 'sandbox: tool=get_weather {"city":"Oslo"}\nsandbox: tool=shell ls';
  const names = async (changes: Partial<SandboxRequest>) =>
    callsOf(await answerTo(ask(two, { tools: [weather, shell], ...changes }))).map(
      ({ name }) => name,
    );
  assert.deepEqual(await names({ toolChoice: { type: 'none' } }), []);
  assert.deepEqual(await names({ toolChoice: { type: 'auto' } }), ['get_weather', 'shell']);
  assert.deepEqual(await names({ toolChoice: { type: 'required' } }), ['get_weather', 'shell']);
  assert.deepEqual(await names({ toolChoice: { type: 'tool', name: 'shell' } }), ['shell']);
  assert.deepEqual(await names({ parallelToolCalls: false }), ['get_weather']);
});

test('a forced call without a directive gets a minimal valid instance of the schema', async () => {
  for (const toolChoice of [{ type: 'required' }, { type: 'tool', name: 'get_weather' }] as const) {
    const [call, ...others] = callsOf(
      await answerTo(ask('Hi', { tools: [weather, shell], toolChoice })),
    );
    assert.equal(others.length, 0);
    assert.ok(
      call?.name === 'get_weather' && Check(weather.parameters!, JSON.parse(call.arguments)),
    );
  }
  const bare = { ...weather, parameters: {} };
  assert.equal(
    callsOf(await answerTo(ask('Hi', { tools: [bare], toolChoice: { type: 'required' } })))[0]
      ?.arguments,
    '{}',
  );
  assert.equal((await failureOf(ask('Hi', { toolChoice: { type: 'required' } }))).status, 400);
  assert.match(
    (await failureOf(ask('Hi', { tools: [weather], toolChoice: { type: 'tool', name: 'x' } })))
      .message,
    /no tool `x`/,
  );
  const odd = { ...weather, parameters: { type: 'object', not: {} } };
  assert.match(
    (await failureOf(ask('Hi', { tools: [odd], toolChoice: { type: 'required' } }))).message,
    /`get_weather`: it uses `not`/,
  );
});

test('after tool results their text is quoted, and directives are not obeyed again', async () => {
  const call = callPart('call_sandbox_1', 'get_weather');
  const messages: Message[] = [
    user('sandbox: tool=get_weather\nsandbox: status=500\nsandbox: nonsense'),
    { role: 'assistant', content: [call, { ...call, id: 'b', name: 'shell' }] },
    toolTurn(resultPart(call.id, textPart('{"celsius":21}'))),
    {
      role: 'tool',
      content: [
        { type: 'tool-result', callId: 'b', content: [textPart('not found')], isError: true },
      ],
    },
  ];
  const answer = await answerTo({ ...emptyRequest, messages, tools: [weather] });
  assert.match(
    textOf(answer),
    /^The tool get_weather returned: \{"celsius":21\}\nThe tool shell failed: not found\n/,
  );
  const next = await answerTo({
    ...emptyRequest,
    messages: [...messages, user('sandbox: tool=get_weather')],
    tools: [weather],
  });
  assert.equal(callsOf(next)[0]?.id, 'call_sandbox_3', 'ids do not meet twice in a conversation');
});

test('JSON output is JSON, and schema output is an instance of the schema', async () => {
  const json = textOf(await answerTo(ask('Hi "there"', { outputFormat: { type: 'json' } })));
  assert.deepEqual(JSON.parse(json), { answer: 'You said: Hi "there"', sandbox: true });
  const schema = {
    type: 'object',
    properties: { score: { type: 'integer', minimum: 1 } },
    required: ['score'],
    additionalProperties: false,
  };
  const outputFormat = {
    type: 'json-schema',
    name: 'rating',
    description: null,
    schema,
    strict: true,
  } as const;
  assert.deepEqual(JSON.parse(textOf(await answerTo(ask('Hi', { outputFormat })))), { score: 1 });
  const impossible = { ...outputFormat, schema: { ...schema, required: ['other'] } };
  assert.match(
    (await failureOf(ask('Hi', { outputFormat: impossible }))).message,
    /output format `rating`: it requires the property `other`/,
  );
});

test('`status` is the only event of its stream, and overload asks to retry later', async () => {
  const overloaded = await play(ask('sandbox: status=529'));
  const message = 'The sandbox was asked to fail with status 529.';
  assert.deepEqual(overloaded, [
    { type: 'error', failure: { kind: 'status', status: 529, message, retryAfterSeconds: 1 } },
  ]);
  assert.equal((await failureOf(ask('sandbox: status=500'))).retryAfterSeconds, null);
});

test('a malformed directive is a 400 that explains it', async () => {
  const failure = await failureOf(ask('sandbox: tokens=lots'));
  assert.deepEqual([failure.kind, failure.status], ['status', 400]);
  assert.match(failure.message, /tokens=lots.*whole number/);
});

test('`cut_after` breaks off after so many deltas, or where the answer would finish', async () => {
  const all = (await play(ask('sandbox: tokens=40'))).filter(isDelta).length;
  for (const [cutAfter, expected] of [
    [0, 0],
    [5, 5],
    [1_000, all],
  ] as const) {
    const events = await play(ask(`sandbox: cut_after=${cutAfter}\nsandbox: tokens=40`));
    assert.equal(events.filter(isDelta).length, expected);
    const last = events.at(-1);
    assert.ok(
      last?.type === 'error' &&
        last.failure.kind === 'broken-stream' &&
        last.failure.status === null,
    );
  }
});

test('`usage=none` removes the usage, also from the start', async () => {
  const events = await play(ask('sandbox: usage=none'));
  assert.deepEqual(events[0], { type: 'start', usage: null });
  const finish = events.at(-1);
  assert.ok(finish?.type === 'finish' && finish.usage === null);
});

test('`delay_ms` comes before the first delta and `pace_ms` between deltas', async () => {
  const startedMs = clock.elapsedMs();
  const times: number[] = [];
  const playing = (async () => {
    const request = ask('sandbox: delay_ms=60\nsandbox: pace_ms=25\nsandbox: tokens=4');
    for await (const event of runSandbox(request, usual))
      if (isDelta(event)) times.push(clock.elapsedMs() - startedMs);
  })();
  await clock.advance(1_000);
  await playing;
  assert.deepEqual(times, [60, 85, 110]);
});

test('an abort ends a delay at once with an error event', async () => {
  const controller = new AbortController();
  const playing = play(ask('sandbox: delay_ms=600000'), { signal: controller.signal });
  await clock.advance(20);
  assert.ok(await isPending(playing));
  controller.abort();
  assert.deepEqual(
    (await playing).map(({ type }) => type),
    ['start', 'error'],
  );
  assert.equal((await failureOf(ask('Hi'), { signal: controller.signal })).kind, 'connection');
});

test('input tokens count all text of instructions, messages and tools once, and a fixed number for media', () => {
  const request: SandboxRequest = {
    ...emptyRequest,
    system: [textPart('abcd')],
    messages: [
      systemTurn('é'),
      userTurn('abc', image),
      assistantTurn(thinkingPart('ab'), { type: 'refusal', text: 'x' }, callPart('i', 'nn')),
      toolTurn(resultPart('i', textPart('ok'), image)),
    ],
    tools: [
      { ...weather, name: 't', description: 'dd', parameters: { a: 1 } },
      { ...shell, name: 's' },
    ],
  };
  // 4 + 2 + 3 + 2 + 1 + 2 + 2 + 2 of text, then t, dd, {"a":1}, s.
  assert.equal(countInputTokens(request), Math.ceil((18 + 1 + 2 + 7 + 1) / 4) + 2 * 1_600);
  assert.equal(countInputTokens(emptyRequest), 0);
});

test('the input count is in the start and the finish', async () => {
  const request = ask('Hello');
  const [start] = await play(request);
  assert.ok(
    start?.type === 'start' && start.usage?.inputTokens === 2 && start.usage.outputTokens === 0,
  );
  assert.equal((await answerTo(request)).usage?.inputTokens, countInputTokens(request));
});

test('more stop sequences than can be searched for are refused', async () => {
  const stopSequences = Array.from({ length: 65 }, (_, index) => `stop ${index}`);
  const failure = await failureOf(ask('Hi', { stopSequences }));
  assert.match(failure.message, /at most 64 stop sequences of at most 1000 characters/);
  assert.equal((await answerTo(ask('Hi', { stopSequences: ['sand'] }))).stop.sequence, 'sand');
});

test('arguments of a directive that are nested too deep are refused', async () => {
  const deep = `sandbox: tool=get_weather {"a":${'['.repeat(1_000_000)}`;
  assert.match((await failureOf(ask(deep, { tools: [weather] }))).message, /must be a JSON object/);
});
