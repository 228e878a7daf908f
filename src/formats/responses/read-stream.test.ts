import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { collect } from '../../../tests/support/canonical/answers.ts';
import type { SseEvent } from '../../lib/sse.ts';
import type { JsonObject } from '../../lib/json.ts';
import { UnreadableAnswer } from '../format.ts';
import { ApiError } from '../../canonical/errors.ts';
import {
  contextFor,
  payloadsOf,
  readAll,
  runPipe,
  sseEvent,
} from '../../../tests/support/formats/responses.ts';
import { readAnswer } from './read-answer.ts';
import { relayStream } from './relay-stream.ts';
import { writeStream } from './write-stream.ts';
import { errorContext } from '../../../tests/support/error-context.ts';

const completed = (fields: JsonObject = {}) =>
  sseEvent('response.completed', { response: { status: 'completed', output: [], ...fields } });
const contentOf = (events: Parameters<typeof readAll>[0]) => collect(readAll(events))?.content;
const text = (value: string) => ({ type: 'text', text: value });

test('a text stream is read as deltas', () => {
  const at = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  assert.deepEqual(
    readAll([
      sseEvent('response.created', { response: {} }),
      sseEvent('response.output_item.added', {
        output_index: 0,
        item: { type: 'message', id: 'msg_1', content: [] },
      }),
      sseEvent('response.content_part.added', { ...at, part: { type: 'output_text', text: '' } }),
      sseEvent('response.output_text.delta', { ...at, delta: 'He' }),
      sseEvent('response.something.new', { ...at, delta: '?' }),
      sseEvent('response.output_text.delta', { ...at, delta: 'y' }),
      sseEvent('response.output_text.done', { ...at, text: 'Hey' }),
      sseEvent('response.content_part.done', { ...at, part: { type: 'output_text', text: 'Hey' } }),
      sseEvent('response.output_item.done', {
        output_index: 0,
        item: { type: 'message', content: [{ type: 'output_text', text: 'Hey' }] },
      }),
      completed({ usage: { input_tokens: 1, output_tokens: 2 } }),
    ]).map((event) =>
      event.type === 'finish' ? { type: 'finish', usage: event.usage?.outputTokens } : event,
    ),
    [
      { type: 'start', usage: null },
      { type: 'text-start' },
      { type: 'text-delta', text: 'He' },
      { type: 'text-delta', text: 'y' },
      { type: 'text-end' },
      { type: 'finish', usage: 2 },
    ],
  );
});

test('fields that only a later event has are read from it', async (t) => {
  const item = { type: 'message', content: [{ type: 'output_text', text: 'Hey' }] };
  const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"a":1}' };
  const called = { type: 'tool-call', id: 'c', name: 'f', arguments: '{"a":1}', kind: 'function' };
  const streams: Readonly<
    Record<string, readonly [readonly ReturnType<typeof sseEvent>[], readonly object[]]>
  > = {
    'a text only in its done event': [
      [
        sseEvent('response.output_text.done', { output_index: 0, content_index: 0, text: 'Hey' }),
        completed(),
      ],
      [text('Hey')],
    ],
    'the rest of a text in its done event': [
      [
        sseEvent('response.output_text.delta', { output_index: 0, content_index: 0, delta: 'H' }),
        sseEvent('response.output_text.done', { output_index: 0, content_index: 0, text: 'Hey' }),
        completed(),
      ],
      [text('Hey')],
    ],
    'a text only in the finished item': [
      [sseEvent('response.output_item.done', { output_index: 0, item }), completed()],
      [text('Hey')],
    ],
    'everything only in the final response': [
      [completed({ output: [item, call] })],
      [text('Hey'), called],
    ],
    'a call without deltas': [
      [
        sseEvent('response.output_item.added', {
          output_index: 0,
          item: { ...call, arguments: '' },
        }),
        sseEvent('response.output_item.done', { output_index: 0, item: call }),
        completed({ output: [call] }),
      ],
      [called],
    ],
    'a call that is announced whole': [
      [
        sseEvent('response.output_item.added', { output_index: 0, item: call }),
        sseEvent('response.function_call_arguments.done', {
          output_index: 0,
          arguments: '{"a":1}',
        }),
        sseEvent('response.output_item.done', { output_index: 0, item: call }),
        completed(),
      ],
      [called],
    ],
    'a call that is named at its end': [
      [
        sseEvent('response.output_item.added', {
          output_index: 0,
          item: { type: 'function_call', call_id: 'c' },
        }),
        sseEvent('response.function_call_arguments.delta', { output_index: 0, delta: '{"a' }),
        sseEvent('response.output_item.done', { output_index: 0, item: call }),
        completed(),
      ],
      [called],
    ],
    'a summary in sections': [
      [
        sseEvent('response.reasoning_summary_text.delta', {
          output_index: 0,
          summary_index: 0,
          delta: 'one',
        }),
        sseEvent('response.reasoning_summary_text.done', {
          output_index: 0,
          summary_index: 1,
          text: 'two',
        }),
        sseEvent('response.output_item.done', {
          output_index: 0,
          item: {
            type: 'reasoning',
            summary: [{ text: 'one' }, { text: 'two' }, { text: 'three' }],
            encrypted_content: 'gAAA',
          },
        }),
        completed(),
      ],
      [
        {
          type: 'thinking',
          text: 'one\n\ntwo\n\nthree',
          signature: { vendor: 'openai', value: 'gAAA' },
          redacted: false,
        },
      ],
    ],
    'raw reasoning, and not its summary too': [
      [
        sseEvent('response.reasoning_text.delta', {
          output_index: 0,
          content_index: 0,
          delta: 'hm',
        }),
        sseEvent('response.reasoning_summary_text.delta', {
          output_index: 0,
          summary_index: 0,
          delta: 'short',
        }),
        completed(),
      ],
      [{ type: 'thinking', text: 'hm', signature: null, redacted: false }],
    ],
    'reasoning that shows nothing': [
      [
        sseEvent('response.output_item.done', {
          output_index: 0,
          item: { type: 'reasoning', summary: [] },
        }),
        completed(),
      ],
      [],
    ],
    'tools that ran at the provider': [
      [completed({ output: [{ type: 'web_search_call', id: 'ws_1' }, item] })],
      [text('Hey')],
    ],
  };
  for (const [what, [events, content]] of Object.entries(streams)) {
    await t.test(what, () => assert.deepEqual(contentOf(events), content));
  }
});

test('overlapping items are emitted one after another', () => {
  const events = readAll([
    textDelta(0, 'a'),
    textDelta(1, 'x'),
    textDelta(0, 'b'),
    sseEvent('response.output_item.done', { output_index: 1, item: {} }),
    sseEvent('response.output_item.done', { output_index: 0, item: {} }),
    completed(),
  ]);
  assert.deepEqual(
    events.map((event) => ('text' in event ? event.text : event.type)),
    ['start', 'text-start', 'a', 'b', 'text-end', 'text-start', 'x', 'text-end', 'finish'],
  );
});

test('each way to end is distinguished', () => {
  const called = { type: 'custom_tool_call', call_id: 'c', name: 'f', input: '' };
  const refused = { type: 'message', content: [{ type: 'refusal', refusal: 'no' }] };
  assert.equal(endOf([completed()]), 'end');
  assert.equal(endOf([completed({ output: [called] })]), 'tool-calls');
  assert.equal(endOf([completed({ output: [refused] })]), 'refusal');
  assert.equal(endOf([incomplete('max_output_tokens')]), 'length');
  assert.equal(endOf([incomplete('content_filter')]), 'content-filter');
  assert.equal(
    endOf([
      sseEvent('response.failed', { response: { error: { code: 'server_error', message: 'x' } } }),
    ]),
    'status',
  );
  assert.equal(endOf([{ event: '', data: '{"error":{"message":"proxy"}}' }]), 'status');
  assert.equal(endOf([{ event: '', data: 'oops' }]), 'unreadable');
  assert.equal(endOf([sseEvent('response.created')]), 'broken-stream');
});

function textDelta(index: number, value: string) {
  return sseEvent('response.output_text.delta', {
    output_index: index,
    content_index: 0,
    delta: value,
  });
}

function incomplete(reason: string) {
  return sseEvent('response.incomplete', {
    response: { output: [], incomplete_details: { reason } },
  });
}

/** The stop reason of a finish, or the kind of a failure. */
function endOf(events: readonly SseEvent[]): string {
  const last = readAll(events).at(-1);
  if (last?.type === 'finish') return last.stop.reason;
  assert.ok(last?.type === 'error');
  return last.failure.kind;
}

test('nothing follows the end', () => {
  const events = readAll([
    completed(),
    sseEvent('error', { message: 'late' }),
    completed(),
    { event: '', data: '[DONE]' },
  ]);
  assert.deepEqual(
    events.map(({ type }) => type),
    ['start', 'finish'],
  );
});

const anyType = fc.constantFrom(
  'created',
  'output_item.added',
  'output_item.done',
  'content_part.added',
  'content_part.done',
  'output_text.delta',
  'output_text.done',
  'refusal.delta',
  'reasoning_text.delta',
  'reasoning_summary_text.done',
  'function_call_arguments.delta',
  'function_call_arguments.done',
  'custom_tool_call_input.done',
  'completed',
  'incomplete',
  'failed',
  'new',
);
const anyItem = fc.record(
  {
    type: fc.constantFrom('message', 'reasoning', 'function_call', 'custom_tool_call', 'other'),
    id: fc.constantFrom('a', 'b'),
    call_id: fc.constantFrom('c', 'd', 7),
    name: fc.constantFrom('f', '', null),
    arguments: fc.constantFrom('{}', null),
    content: fc.constantFrom([], null, 'x', [
      { type: 'output_text', text: 'abc' },
      3,
      { type: 'refusal' },
    ]),
    encrypted_content: fc.constantFrom('gAAA', '', 3),
  },
  { requiredKeys: [] },
);
const anyPayload = fc.record(
  {
    output_index: fc.constantFrom(0, 1, 2, -1, 'x'),
    content_index: fc.constantFrom(0, 1, null),
    summary_index: fc.constantFrom(0, 1),
    item_id: fc.constantFrom('a', 'b', 4),
    delta: fc.constantFrom('x', '', 5, {}),
    text: fc.constantFrom('xy', null),
    part: fc.constantFrom(
      null,
      3,
      { type: 'output_text', text: 'x' },
      { type: 'refusal', refusal: 'x' },
    ),
    item: fc.oneof(anyItem, fc.constant(null)),
    response: fc.constantFrom(
      null,
      {},
      { output: 'x' },
      { output: [null, { type: 'message', content: [{ type: 'output_text', text: 'x' }] }] },
    ),
    sequence_number: fc.nat(9),
  },
  { requiredKeys: [] },
);
const anyUpstreamEvents = fc.array(
  fc.tuple(anyType, anyPayload).map(([type, payload]) => sseEvent(`response.${type}`, payload)),
  { maxLength: 12 },
);

test('for any upstream events, the reader’s blocks never overlap and there is one end', () => {
  fc.assert(
    fc.property(anyUpstreamEvents, (upstreamEvents) => {
      const events = readAll(upstreamEvents);
      assert.equal(events[0]?.type, 'start');
      let open: string | null = null;
      for (const { type } of events.slice(1, -1)) {
        const [, block, step] = /^(.*)-(start|delta|signature|end)$/.exec(type) ?? [];
        assert.ok(block, type);
        assert.equal(open, step === 'start' ? null : block);
        open = step === 'end' ? null : block;
      }
      const last = events.at(-1)?.type;
      assert.ok(last === 'error' || (last === 'finish' && open === null), last);
    }),
  );
});

test('for any upstream events, both paths number their events without a gap', () => {
  fc.assert(
    fc.property(anyUpstreamEvents, fc.constantFrom(null, 'low'), (upstreamEvents, effort) => {
      const context = contextFor({ reasoning: { effort } });
      const relay = relayStream(context);
      const writer = writeStream(context);
      const relayed = runPipe(relay, upstreamEvents);
      const written = runPipe(writer, readAll(upstreamEvents));
      for (const [frames, pipe] of [
        [relayed, relay],
        [written, writer],
      ] as const) {
        const end =
          pipe.progress.status === 'failed'
            ? pipe.fail(new ApiError('upstream_error', 'x'), errorContext)
            : '';
        const events = payloadsOf(frames + end);
        events.forEach((event, index) => assert.equal(event.sequence_number, index));
        assert.match(String(events.at(-1)?.type), /^response\.(?:completed|incomplete|failed)$/);
      }
    }),
  );
});

test('a citation is read once, from its own event or from the finished part', () => {
  const annotation = {
    type: 'url_citation',
    url: 'https://a.example',
    title: 'A',
    start_index: 0,
    end_index: 2,
  };
  const at = { output_index: 0, content_index: 0 };
  const done = (annotations: object[]) =>
    sseEvent('response.content_part.done', {
      ...at,
      part: { type: 'output_text', text: 'Hi', annotations },
    });
  const added = sseEvent('response.output_text.annotation.added', {
    ...at,
    annotation_index: 0,
    annotation,
  });
  const delta = sseEvent('response.output_text.delta', { ...at, delta: 'Hi' });
  const end = sseEvent('response.completed', { response: { status: 'completed', output: [] } });
  for (const events of [
    [delta, added, done([annotation])],
    [delta, added, done([])],
    [delta, done([annotation])],
  ]) {
    const citations = readAll([...events, end]).filter((event) => event.type === 'citation');
    assert.deepEqual(
      citations.map(({ citation }) => citation.type === 'url' && citation.url),
      ['https://a.example'],
    );
  }
});

test('a call without a name fails the answer, whole and streamed, and passes the straight path', () => {
  const nameless = { type: 'function_call', call_id: 'c', arguments: '{}' };
  const events = readAll([
    sseEvent('response.output_item.added', { output_index: 0, item: nameless }),
    sseEvent('response.output_item.done', { output_index: 0, item: nameless }),
    completed(),
  ]);
  const last = events.at(-1);
  assert.ok(last?.type === 'error' && /no name/.test(last.failure.message), JSON.stringify(events));
  assert.throws(() => readAnswer({ status: 'completed', output: [nameless] }), UnreadableAnswer);
});

test('arguments before their call’s name are kept, and arguments sent as an object become JSON', () => {
  const item = { type: 'function_call', call_id: 'c', name: 'f' };
  const called = (json: string) => [
    { type: 'tool-call', id: 'c', name: 'f', arguments: json, kind: 'function' },
  ];
  const deltas = [
    sseEvent('response.output_item.added', { output_index: 0, item: { type: 'function_call' } }),
    sseEvent('response.function_call_arguments.delta', { output_index: 0, delta: '{"a"' }),
    sseEvent('response.function_call_arguments.delta', { output_index: 0, delta: ':1}' }),
    sseEvent('response.output_item.done', { output_index: 0, item }),
    completed(),
  ];
  assert.deepEqual(contentOf(deltas), called('{"a":1}'));
  const whole = { ...item, arguments: { b: 2 } };
  assert.deepEqual(
    contentOf([
      sseEvent('response.output_item.done', { output_index: 0, item: whole }),
      completed(),
    ]),
    called('{"b":2}'),
  );
  assert.deepEqual(readAnswer({ status: 'completed', output: [whole] }).content, called('{"b":2}'));
});
