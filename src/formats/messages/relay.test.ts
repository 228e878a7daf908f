// The straight path: what changes in requests and answers, and that nothing else does.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leastCpuMsOf } from '../../../tests/support/cpu-time.ts';
import { textPart } from '../../../tests/support/canonical/parts.ts';
import {
  answerContext,
  blockDelta,
  blockStart,
  blockStop,
  clientRequest,
  eventsOf,
  runPipe,
  upstreamTarget,
} from '../../../tests/support/formats/messages.ts';
import { parseSse } from '../../../tests/support/formats/sse.ts';
import type { Json } from '../../../tests/support/plain/reading.ts';
import { messages } from './index.ts';

const { relay } = messages;
const up = (fields: Record<string, unknown>, target: Parameters<typeof upstreamTarget>[0] = {}) =>
  relay.writeRequest(clientRequest(fields), upstreamTarget(target));

test('a request is sent unchanged, except for model, output limit and tier', () => {
  const content = [{ type: 'hologram', rays: 3 }];
  const fields = {
    messages: [{ role: 'user', content }],
    temperature: 0.3,
    stream: true,
    new_field: { a: null },
  };
  const passFields = new Set(['messages.content.hologram', 'new_field']);
  const { body, ignored } = up(fields, {
    model: 'upstream-id',
    maxOutputTokens: 1000,
    stream: true,
    unknown: { opened: passFields },
  });
  assert.deepEqual(body, {
    model: 'upstream-id',
    max_tokens: 1000,
    ...fields,
    service_tier: 'standard_only',
  });
  assert.deepEqual(ignored, []);
  assert.equal(
    (body.messages as unknown[])[0],
    fields.messages[0],
    'nothing is copied that need not be',
  );
  assert.equal(up({ max_tokens: 10 }).body.max_tokens, 10);
});

test('null means not set and is not sent', () => {
  const { body } = up({ temperature: null, stream: null, container: null, thinking: null });
  assert.deepEqual(Object.keys(body).toSorted(), [
    'max_tokens',
    'messages',
    'model',
    'service_tier',
  ]);
});

test('a harmless field that names an earlier request is left out and listed', () => {
  const { body, ignored } = up({ diagnostics: { previous_message_id: 'msg_1' } });
  assert.equal(body.diagnostics, undefined);
  assert.deepEqual(ignored, ['diagnostics']);
});

test('a thinking budget stays below the output limit, or is left out', () => {
  const thinking = { type: 'enabled', budget_tokens: 3000, display: 'summarized' };
  assert.equal(up({ thinking }).body.thinking, thinking);
  const bounded = up({ thinking }, { maxOutputTokens: 2500 });
  assert.deepEqual(bounded.body.thinking, { ...thinking, budget_tokens: 1476 });
  assert.deepEqual(bounded.ignored, ['thinking.budget_tokens']);
  assert.deepEqual(
    (up({ thinking }, { maxOutputTokens: 1500 }).body.thinking as typeof thinking).budget_tokens,
    1024,
  );
  assert.equal(up({ thinking }, { maxOutputTokens: 1024 }).body.thinking, undefined);
});

test('a model is asked to think in the words of its generation', () => {
  const adaptive = { type: 'adaptive', display: 'omitted' };
  const enabled = { type: 'enabled', budget_tokens: 10_000 };
  const shown = { type: 'adaptive', display: 'summarized' };
  const budget = (budget_tokens: number) => ({ ...adaptive, type: 'enabled', budget_tokens });
  const effort = (level: string) => ({ effort: level });
  const max = { output_config: effort('max') };
  const off = { thinking: { type: 'disabled' } };
  const cases: readonly (readonly [
    model: string,
    asked: object,
    sent: object,
    ignored?: string,
  ])[] = [
    ['claude-haiku-4-5', { thinking: adaptive }, { thinking: budget(8_192) }],
    [
      'claude-sonnet-4-5-20250929',
      { thinking: adaptive, output_config: effort('high') },
      { thinking: budget(24_576) },
      'output_config.effort',
    ],
    [
      'claude-haiku-4-5',
      { output_config: { ...effort('low'), task_budget: 1 } },
      { output_config: { task_budget: 1 } },
      'output_config.effort',
    ],
    [
      'claude-opus-4-5',
      { thinking: adaptive, output_config: effort('medium') },
      { thinking: budget(8_192), output_config: effort('medium') },
    ],
    [
      'claude-sonnet-5',
      { thinking: enabled },
      { thinking: shown, output_config: effort('medium') },
    ],
    [
      'claude-opus-4-7',
      { thinking: { ...enabled, display: 'omitted' }, output_config: effort('max') },
      { thinking: adaptive, output_config: effort('max') },
    ],
    ['claude-opus-4-6', { output_config: effort('xhigh') }, { output_config: effort('high') }],
    // Claude 5 alone refuses more than `high` while it must not think.
    ['claude-opus-4-8', { ...off, ...max }, { ...off, ...max }],
    ['claude-opus-5', { ...off, ...max }, { ...off, output_config: effort('high') }],
  ];
  const room = { max_tokens: 32_000 };
  const limit = { maxOutputTokens: 32_000 };
  const models = ['claude-opus-4-6', 'claude-next', 'deepseek-v4'];
  const same = [...models.map((model) => [model, enabled] as const), ['claude-opus-5', adaptive]];
  for (const [model, thinking] of same as [string, object][])
    assert.equal(up({ ...room, thinking }, { model, ...limit }).body.thinking, thinking);
  for (const [model, asked, sent, ignored] of cases) {
    const { body, ...written } = up({ ...room, ...asked }, { model, ...limit });
    const { thinking, output_config: config } = body;
    assert.deepEqual(JSON.parse(JSON.stringify({ thinking, output_config: config })), sent, model);
    assert.deepEqual(written.ignored, ignored === undefined ? [] : [ignored], model);
  }
  // Another vendor's model made the call that is answered.
  const call = { type: 'tool_use', id: 'a', name: 'f', input: {} };
  const history = [
    { role: 'user', content: 'x' },
    { role: 'assistant', content: [call] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'r' }] },
  ];
  const { body, ignored } = up(
    { messages: history, thinking: adaptive },
    { model: 'claude-haiku-4-5' },
  );
  assert.deepEqual([body.thinking, ignored], [undefined, ['thinking']]);
});

test('a model that does not think gets no thinking fields', () => {
  const { body, ignored } = up(
    { thinking: { type: 'adaptive' }, output_config: { effort: 'low', task_budget: 1 } },
    { thinking: false },
  );
  assert.equal(body.thinking, undefined);
  assert.deepEqual(body.output_config, { task_budget: 1 });
  assert.deepEqual(ignored, ['thinking', 'output_config.effort']);
});

test('a client’s word against thinking is the model’s own, or left out where it always thinks', () => {
  const thinking = { type: 'disabled' };
  const sentTo = (model: string, target: object = {}) => {
    const { body, ignored } = up({ thinking }, { model, ...target });
    return [body.thinking, ignored];
  };
  // By the catalogue it does not think, but it would unasked.
  for (const model of ['claude-opus-5', 'claude-haiku-5-5'])
    assert.deepEqual(sentTo(model, { thinking: false }), [thinking, []]);
  assert.deepEqual(sentTo('claude-opus-4-8', { thinking: false }), [undefined, []]);
  assert.deepEqual(sentTo('claude-opus-5'), [thinking, []]);
  assert.deepEqual(sentTo('claude-opus-4-8'), [thinking, []]);
  assert.deepEqual(sentTo('claude-sonnet-5-5'), [{ type: 'between_tools' }, []]);
  assert.deepEqual(sentTo('claude-fable-5-1'), [undefined, ['thinking']]);
});

test('MiniMax M3.1, which always thinks, gets the effort that is nearest to the client’s word', () => {
  const sent = (fields: Record<string, unknown>) => {
    const { body } = up(fields, { model: 'MiniMax-M3.1-Flash' });
    return [body.thinking, body.output_config];
  };
  assert.deepEqual(sent({ thinking: { type: 'disabled' } }), [undefined, { effort: 'low' }]);
  const budget = { type: 'enabled', budget_tokens: 24_576 };
  const sentBudget = sent({ thinking: budget, max_tokens: 32_000 });
  assert.deepEqual(sentBudget, [{ type: 'adaptive' }, { effort: 'high' }]);
  const asked = { thinking: { type: 'adaptive' }, output_config: { effort: 'xhigh' } };
  assert.deepEqual(sent(asked), [asked.thinking, asked.output_config]);
});

test('other vendors’ turns are fitted for Anthropic: reasoning is removed and call ids are mapped', () => {
  const call = { type: 'tool_use', id: 'functions.look:0', name: 'look', input: {} };
  const own = { type: 'thinking', thinking: 'b', signature: 'Eq==' };
  const fields = {
    thinking: { type: 'enabled', budget_tokens: 2000 },
    messages: [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: [own, textPart('b')] },
      { role: 'assistant', content: [{ type: 'redacted_thinking', data: 'tg1.openai.x' }] },
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'c', signature: '' }, call] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'functions.look:0', content: 'd' }],
      },
    ],
  };
  const { body, ignored } = up(fields);
  const id = 'functions_x2e_look_x3a_0';
  assert.deepEqual(body.messages, [
    fields.messages[0],
    fields.messages[1],
    { role: 'assistant', content: [{ ...call, id }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'd' }] },
  ]);
  // The continued turn has lost the thinking that it must begin with.
  assert.equal(body.thinking, undefined);
  assert.deepEqual(ignored, ['thinking', 'thinking.budget_tokens']);
});

test('hosts other than Anthropic get earlier reasoning that nobody signed', () => {
  const signedBy = (...signatures: unknown[]) => [
    { role: 'user', content: 'a' },
    {
      role: 'assistant',
      content: [
        ...signatures.map((signature) => ({ type: 'thinking', thinking: 'Hm', signature })),
        textPart('b'),
      ],
    },
    { role: 'user', content: 'c' },
  ];
  const given = { messages: signedBy('', 'a-uuid', 'tg1.unsigned', 'tg1.google.x') };
  const { body, ignored } = up(given, { model: 'kimi-k3' });
  const unsigned = { type: 'thinking', thinking: 'Hm' };
  const [, answer] = body.messages as [unknown, { content: unknown[] }];
  assert.deepEqual(answer.content, [
    { ...unsigned, signature: '' },
    { ...unsigned, signature: 'a-uuid' },
    unsigned,
    unsigned,
    textPart('b'),
  ]);
  assert.deepEqual(ignored, []);
  const anthropic = up(given);
  assert.deepEqual(anthropic.ignored, ['thinking']);
});

test('instructions in mid-conversation are marked text of the user where the model takes no others', () => {
  const instruct = (content: unknown, fields = {}) => ({ role: 'system', content, ...fields });
  const mark = { cache_control: { type: 'ephemeral' } };
  const fields = {
    messages: [
      { role: 'user', content: 'a' },
      instruct('gone', { clear_at: 'next_user_message' }),
      { role: 'assistant', content: 'b' },
      { role: 'user', content: 'c' },
      instruct([{ ...textPart('Be brief.'), ...mark }]),
      instruct(undefined, { output_config: { effort: 'low' } }),
      instruct('2 left', { clear_at: 'next_user_message' }),
    ],
  };
  const models = ['claude-haiku-4-5', 'claude-sonnet-5', 'claude-sonnet-latest', 'deepseek-v4-pro'];
  for (const model of models) {
    const { body, ignored } = up(fields, { model });
    const told = (text: string) => textPart(`<system>\n${text}\n</system>`);
    assert.deepEqual(body.messages, [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b' },
      { role: 'user', content: 'c' },
      { role: 'user', content: [{ ...told('Be brief.'), ...mark }] },
      { role: 'user', content: [told('2 left')] },
    ]);
    assert.deepEqual(ignored, ['messages.output_config']);
  }
  for (const model of [
    'claude-opus-4-8',
    'claude-sonnet-5-5',
    'claude-haiku-5-5',
    'claude-mythos-5',
  ])
    assert.deepEqual(up(fields, { model }).body.messages, fields.messages);
});

test('many instructions in mid-conversation take no time that grows with their square', () => {
  const instruction = { role: 'system', content: 'a' };
  const many = [
    { role: 'user', content: 'a' },
    ...Array.from({ length: 16_000 }, () => instruction),
  ];
  assert.ok(leastCpuMsOf(() => up({ messages: many }, { model: 'kimi-k3' })) < 1_000);
});

test('tools that change in mid-conversation are offered from the start where the model knows no changes', () => {
  const [own, late, inline] = ['own', 'late', 'inline'].map((name) => ({
    name,
    input_schema: { type: 'object' },
  }));
  const change = (type: string, tool: object) => ({ type, tool });
  const fields = {
    tools: [own, { ...late, defer_loading: true }],
    messages: [
      { role: 'user', content: 'a' },
      {
        role: 'system',
        content: [
          change('tool_addition', { type: 'tool_reference', name: 'late' }),
          change('tool_addition', { type: 'tool_definition', definition: inline }),
          change('tool_removal', { type: 'tool_reference', name: 'own' }),
          change('tool_addition', { type: 'tool_reference', name: 'inline' }),
        ],
      },
    ],
  };
  const told = [
    'This tool can be called now: late',
    'This tool can be called now: inline',
    'This tool can no longer be called: own',
    'This tool can be called now: inline',
  ];
  const { body } = up(fields, { model: 'kimi-k3' });
  assert.deepEqual(body.tools, [own, late, inline]);
  const [, told2] = body.messages as [unknown, object];
  assert.deepEqual(told2, {
    role: 'user',
    content: told.map((text) => textPart(`<system>\n${text}\n</system>`)),
  });
  const kept = up(fields, { model: 'claude-opus-5-5' });
  assert.deepEqual([kept.body.tools, kept.body.messages], [fields.tools, fields.messages]);
  const { tools, messages: read } = messages.readRequest(clientRequest(fields));
  assert.deepEqual(
    tools.map(({ name }) => name),
    ['own', 'late', 'inline'],
  );
  assert.deepEqual(read.at(-1), { role: 'system', content: told.map(textPart) });
});

test('the mark that another model went on is left out and listed', () => {
  const fallback = { type: 'fallback', from: { model: 'a' }, to: { model: 'b' } };
  const said = (...content: object[]) => [
    { role: 'user', content: 'a' },
    { role: 'assistant', content },
    { role: 'user', content: 'c' },
  ];
  const fields = { messages: said(fallback, textPart('b')) };
  const { body, ignored } = up(fields);
  const listed = ['messages.content.fallback'];
  assert.deepEqual([body.messages, ignored], [said(textPart('b')), listed]);
  const request = clientRequest(fields);
  const [, answer] = messages.readRequest(request).messages;
  assert.deepEqual(answer, { role: 'assistant', content: [textPart('b')] });
  assert.deepEqual(messages.ignoredFields?.(request), listed);
});

test('a mark for the cache on thinking is left out and listed', () => {
  const thinking = { type: 'thinking', thinking: 'Hm', signature: 'anthropics' };
  const mark = { cache_control: { type: 'ephemeral' } };
  const said = (...content: object[]) => [
    { role: 'user', content: 'a' },
    { role: 'assistant', content },
    { role: 'user', content: 'c' },
  ];
  const sealed = { type: 'redacted_thinking', data: 'anthropics' };
  const text = { ...textPart('b'), ...mark };
  const fields = { messages: said({ ...thinking, ...mark }, { ...sealed, ...mark }, text) };
  const { body, ignored } = up(fields);
  assert.deepEqual(messages.ignoredFields?.(clientRequest(fields)), ['cache_control']);
  assert.deepEqual(JSON.parse(JSON.stringify(body.messages)), said(thinking, sealed, text));
  assert.deepEqual(ignored, ['cache_control']);
});

test('reasoning that a host did not sign gets a signature, without which clients drop it', () => {
  const thinking = { type: 'thinking', thinking: 'Hm' };
  const whole = relay.relayAnswer({ content: [thinking] }, answerContext());
  assert.deepEqual(whole.body.content, [{ ...thinking, signature: 'tg1.unsigned' }]);
  const signature = { type: 'signature_delta', signature: 'a-uuid' };
  const streamed = relayed([
    start,
    blockStart({ ...thinking, thinking: '' }),
    blockStop(),
    blockStart({ ...thinking, thinking: '' }, 1),
    blockDelta(signature, 1),
    blockStop(1),
    end,
  ]);
  assert.deepEqual(streamed.events.slice(2, 6), [
    blockDelta({ ...signature, signature: 'tg1.unsigned' }),
    blockStop(),
    blockStart({ ...thinking, thinking: '' }, 1),
    blockDelta(signature, 1),
  ]);
});

test('an answer is relayed unchanged, under the catalogue’s id', () => {
  const body = {
    id: 'msg_upstream',
    type: 'message',
    role: 'assistant',
    model: 'upstream-id',
    content: [
      { type: 'thinking', thinking: 'é', signature: 's' },
      { type: 'text', text: 'abc', citations: [{ type: 'x' }] },
      { type: 'tool_use', id: 'a', name: 'b', input: { c: 1 } },
      { type: 'new_block', anything: true },
    ],
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: 3, output_tokens: 4, new_count: 5 },
    new_field: 1,
  };
  const answer = relay.relayAnswer(body, answerContext({ model: 'catalogue/id' }));
  assert.deepEqual(answer.body, { ...body, model: 'catalogue/id' });
  assert.equal(answer.usage?.inputTokens, 3);
  assert.deepEqual(answer.stop, { reason: 'tool-calls', sequence: null });
  assert.equal(answer.outputBytes, 2 + 3 + '{"c":1}'.length);
});

const sse = (...events: unknown[]) =>
  events
    .map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`)
    .join('');
const start = {
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'upstream-id',
    content: [],
    stop_sequence: null,
    usage: { input_tokens: 9, output_tokens: 1 },
  },
};
const end = {
  type: 'message_delta',
  delta: { stop_reason: 'end_turn' },
  usage: { output_tokens: 4 },
};

/** Relays these events, and then the last ones at this cost. */
function relayed(events: readonly unknown[], costUsd = 0) {
  const pipe = relay.relayStream(answerContext());
  const frames = runPipe(pipe, parseSse(sse(...events)), costUsd);
  return { progress: pipe.progress, events: eventsOf(frames) as Json[] };
}

const words = (text: string, index?: number) => blockDelta({ type: 'text_delta', text }, index);
const opened = (index?: number) => blockStart(textPart(''), index);

/** Blocks as hosts send them, and as clients get them. */
const misplaced: Readonly<Record<string, [sent: readonly object[], got: readonly object[]]>> = {
  'a block that begins before the one of its index has ended': [
    [opened(), words('a'), opened(), words('b'), blockStop()],
    [opened(), words('a'), blockStop(), opened(1), words('b', 1), blockStop(1)],
  ],
  'blocks of one index': [
    [opened(), words('a'), blockStop(), opened(), words('b'), blockStop()],
    [opened(), words('a'), blockStop(), opened(1), words('b', 1), blockStop(1)],
  ],
  'an index that is left out': [
    [opened(1), words('a', 1), blockStop(1), opened(3), blockStop(3)],
    [opened(), words('a'), blockStop(), opened(1), blockStop(1)],
  ],
  'blocks that are interleaved': [
    [opened(), opened(1), words('a'), words('b', 1), blockStop(), blockStop(1)],
    [opened(), opened(1), words('a'), words('b', 1), blockStop(), blockStop(1)],
  ],
};
for (const [what, [sent, got]] of Object.entries(misplaced))
  test(`clients find every block at its index: ${what}`, () => {
    const { events } = relayed([start, ...sent, end, { type: 'message_stop' }]);
    assert.deepEqual(events.slice(1, -2), got);
  });

test('a message gets the fields that clients require and its host left out', () => {
  const usage = { input_tokens: 9, output_tokens: 1 };
  const { body } = relay.relayAnswer({ content: [textPart('a')], usage }, answerContext());
  assert.deepEqual([body.type, body.role, body.stop_sequence], ['message', 'assistant', null]);
  const { events } = relayed([{ type: 'message_start', message: { usage } }, end]);
  const { type, role, content, stop_sequence: sequence } = events[0]!['message'];
  assert.deepEqual([type, role, content, sequence], ['message', 'assistant', [], null]);
});

test('events are relayed as the text they arrived in, and the last two wait', () => {
  const pipe = relay.relayStream(answerContext({ model: 'catalogue/id' }));
  const odd = '{ "type" : "ping" ,  "x":1e3 }   ';
  const frames = parseSse(
    sse(start, odd, { type: 'brand_new' }, end, { type: 'message_stop', y: 1 }),
  ).map((event) => pipe.push(event));
  assert.equal(relayed([start, { type: 'vertex_event', usage: {} }, end]).events.length, 3);
  assert.equal(
    frames[0],
    `event: message_start\ndata: ${JSON.stringify({ ...start, message: { ...start.message, model: 'catalogue/id' } })}\n\n`,
  );
  assert.equal(frames[1], `event: ping\ndata: ${odd}\n\n`);
  assert.equal(frames[2], 'event: brand_new\ndata: {"type":"brand_new"}\n\n');
  assert.deepEqual(frames.slice(3), ['', '']);
  assert.equal(pipe.progress.status, 'finished');
  assert.equal(pipe.progress.usage?.outputTokens, 4);
  assert.equal(pipe.push(parseSse(sse({ type: 'ping' }))[0]!), '');
  assert.equal(
    pipe.close(0.5),
    `event: message_delta\ndata: ${JSON.stringify({ ...end, usage: { output_tokens: 4, cost: 0.5 } })}\n\n` +
      'event: message_stop\ndata: {"type":"message_stop","y":1}\n\n',
  );
});

test('counts after the stop reason are sent with it, and a missing end is added, with the cost', () => {
  const counts = { type: 'message_delta', delta: {}, usage: { output_tokens: 6 } };
  const late = relayed([start, end, counts, { type: 'message_stop' }], 0.5);
  assert.deepEqual(late.events.slice(1), [
    { ...end, usage: { output_tokens: 6, cost: 0.5 } },
    { type: 'message_stop' },
  ]);
  const { delta, usage } = relayed([start, { type: 'message_stop' }], 0.5).events[1]!;
  assert.deepEqual([delta.stop_reason, usage.input_tokens, usage.cost], ['end_turn', 9, 0.5]);
});

const statuses: Record<string, number> = {
  overloaded_error: 529,
  rate_limit_error: 429,
  invalid_request_error: 400,
  api_error: 500,
  strange: 500,
};
for (const [type, status] of Object.entries(statuses)) {
  test(`an error of type ${type} inside the stream is not relayed: the gateway sends its own`, () => {
    const error = { type: 'error', error: { type, message: 'secret' } };
    const { progress, events } = relayed([start, error, end]);
    assert.deepEqual(
      events.map((event) => event['type']),
      ['message_start'],
    );
    const failure = { kind: 'status', status, message: 'secret', retryAfterSeconds: null };
    assert.deepEqual(progress.failure, failure);
  });
}

test('a [DONE] does not fail the stream', () => {
  assert.equal(relayed([start, end, '[DONE]']).progress.status, 'finished');
});

test('a start that a host sends twice passes once, and that of another answer fails the stream', () => {
  const named = (id: string) => ({ ...start, message: { ...start.message, id } });
  const { progress, events } = relayed([named('msg_1'), named('msg_1'), end]);
  assert.equal(progress.status, 'finished');
  assert.equal(events.filter(({ type }) => type === 'message_start').length, 1);
  assert.equal(relayed([named('msg_1'), named('msg_2'), end]).progress.status, 'failed');
});

test('a host that sends each event twice fails the stream', () => {
  const sent = [start, opened(), words('a'), blockStop(), end];
  assert.equal(relayed(sent.flatMap((event) => [event, event])).progress.status, 'failed');
});

test('without the upstream’s total, the output is our own count and not the start’s', () => {
  const text = blockDelta({ type: 'text_delta', text: 'Hello!' });
  const uncounted = { ...end, usage: undefined };
  const { progress, events } = relayed([start, text, uncounted, { type: 'message_stop' }]);
  const { usage } = events[2]!;
  assert.deepEqual([usage.input_tokens, usage.output_tokens], [9, 2]);
  assert.equal(progress.status, 'finished');
  assert.deepEqual([progress.usage?.inputTokens, progress.usage?.outputTokens], [9, 0]);
});

test('an event’s type comes from its data, or from its event line when the data has no valid one', () => {
  const events = [
    { event: 'ping', data: '{"type":"brand_new"}' },
    { event: '', data: '{"type":"a\\nevent: message_stop"}' },
    {
      event: 'message_delta',
      data: '{"type":null,"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}',
    },
    { event: 'message_stop', data: '{"type":["message_stop"]}' },
  ];
  const pipe = relay.relayStream(answerContext());
  const frames = [...parseSse(sse(start)), ...events].map((event) => pipe.push(event)).slice(1);
  assert.deepEqual(
    frames.map((frame) => frame.split('\n')[0]),
    ['event: brand_new', 'data: {"type":"a\\nevent: message_stop"}', '', ''],
  );
  assert.match(pipe.close(0), /^event: message_delta\ndata: \{"type":"message_delta",/);
  assert.equal(pipe.progress.status, 'finished');
});

test('blank texts of the system prompt are left out', () => {
  const text = { type: 'text', text: 'Be brief.' };
  const blank = { type: 'text', text: ' ', cache_control: { type: 'ephemeral' } };
  const systemOf = (system: unknown) => up({ system }).body.system;
  assert.deepEqual(systemOf([text, blank]), [text]);
  assert.equal(systemOf([blank]), undefined);
  const whole = [text];
  assert.equal(systemOf(whole), whole);
});

test('blank texts and other vendors’ citations are removed from earlier turns', () => {
  const foreign = {
    type: 'web_search_result_location',
    cited_text: '',
    encrypted_index: '',
    title: null,
    url: 'https://a.example',
  };
  const own = { ...foreign, encrypted_index: 'Eo8B' };
  const call = { type: 'tool_use', id: 'a', name: 'b', input: {} };
  const result = { type: 'tool_result', tool_use_id: 'a', content: 'r' };
  const fields = {
    messages: [
      { role: 'user', content: [textPart(' ')] },
      {
        role: 'assistant',
        content: [textPart('\n\n'), { type: 'text', text: 'x', citations: [foreign, own] }, call],
      },
      { role: 'user', content: [result, textPart('')] },
      { role: 'assistant', content: [{ type: 'text', text: 'y', citations: [foreign] }] },
    ],
  };
  const { body, ignored } = up(fields);
  assert.deepEqual(body.messages, [
    { role: 'user', content: [textPart('(empty message)')] },
    { role: 'assistant', content: [{ type: 'text', text: 'x', citations: [own] }, call] },
    { role: 'user', content: [result] },
    { role: 'assistant', content: [textPart('y')] },
  ]);
  assert.deepEqual(ignored, ['citations']);
});

test('a client that disconnects is charged for sealed and hidden reasoning', () => {
  const pipe = relay.relayStream(answerContext());
  const push = (event: object) => pipe.push({ event: '', data: JSON.stringify(event) });
  push({ type: 'message_start', message: { usage: { input_tokens: 3, output_tokens: 1 } } });
  push(blockStart({ type: 'redacted_thinking', data: 'A'.repeat(400) }));
  assert.equal(pipe.progress.output.bytes, 300);
  push(blockStart({ type: 'thinking', thinking: '', signature: '' }, 1));
  push(blockDelta({ type: 'thinking_delta', thinking: 'short' }, 1));
  push(blockDelta({ type: 'signature_delta', signature: 'A'.repeat(400) }, 1));
  push(blockDelta({ type: 'text_delta', text: 'done' }, 2));
  assert.equal(pipe.progress.output.bytes, 604);
});

test('a call’s input that arrives whole with its block is metered once', () => {
  const block = { type: 'tool_use', id: 'a', name: 'b', input: { city: 'Paris' } };
  const delta = blockDelta({ type: 'input_json_delta', partial_json: '{"city":"Paris"}' }, 1);
  const first = [blockStart(block), blockStop()];
  const second = [blockStart(block, 1), delta, blockStop(1)];
  const { progress } = relayed([start, ...first, ...second, end]);
  assert.equal(progress.output.bytes, 2 * '{"city":"Paris"}'.length);
});

test('a stream with a call and without a stop reason ends as its whole answer does', () => {
  const pipe = relay.relayStream(answerContext());
  const push = (event: object) => pipe.push({ event: '', data: JSON.stringify(event) });
  push({ type: 'message_start', message: { usage: { input_tokens: 9, output_tokens: 1 } } });
  const block = { type: 'tool_use', id: 'a', name: 'b', input: {} };
  push({ type: 'content_block_start', index: 0, content_block: block });
  push({ type: 'content_block_stop', index: 0 });
  push({ type: 'message_delta', delta: { stop_reason: null }, usage: { output_tokens: 2 } });
  push({ type: 'message_stop' });
  assert.equal(pipe.progress.stop?.reason, 'tool-calls');
  assert.match(pipe.close(0), /"stop_reason":"tool_use"/);
});
