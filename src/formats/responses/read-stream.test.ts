import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callPart, textPart, thinkingPart } from '../../../tests/support/canonical/parts.ts';
import fc from '../../../tests/support/property.ts';
import { checkEvents, collect } from '../../../tests/support/canonical/answers.ts';
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
import { relayAnswer } from './relay-answer.ts';
import { relayStream } from './relay-stream.ts';
import { writeStream } from './write-stream.ts';
import { errorContext } from '../../../tests/support/error-context.ts';

const completed = (fields: JsonObject = {}) =>
  sseEvent('response.completed', { response: { status: 'completed', output: [], ...fields } });
const contentOf = (events: Parameters<typeof readAll>[0]) => collect(readAll(events))?.content;
/** An event of the first item and its first part. */
const first = (type: string, fields: JsonObject = {}) =>
  sseEvent(`response.${type}`, { output_index: 0, content_index: 0, ...fields });

test('a text stream is read as deltas', () => {
  const at = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  assert.deepEqual(
    readAll([
      sseEvent('response.created', { response: {} }),
      first('output_item.added', { item: { type: 'message', id: 'msg_1', content: [] } }),
      sseEvent('response.content_part.added', { ...at, part: { type: 'output_text', text: '' } }),
      sseEvent('response.output_text.delta', { ...at, delta: 'He' }),
      sseEvent('response.something.new', { ...at, delta: '?' }),
      sseEvent('response.output_text.delta', { ...at, delta: 'y' }),
      sseEvent('response.output_text.done', { ...at, text: 'Hey' }),
      sseEvent('response.content_part.done', { ...at, part: { type: 'output_text', text: 'Hey' } }),
      first('output_item.done', {
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
  const called = callPart('c', 'f', '{"a":1}');
  const streams: Readonly<Record<string, readonly [events: SseEvent[], content: object[]]>> = {
    'a text only in its done event': [
      [first('output_text.done', { text: 'Hey' })],
      [textPart('Hey')],
    ],
    'the rest of a text in its done event': [
      [first('output_text.delta', { delta: 'H' }), first('output_text.done', { text: 'Hey' })],
      [textPart('Hey')],
    ],
    'a text only in the finished item': [[first('output_item.done', { item })], [textPart('Hey')]],
    'everything only in the final response': [
      [completed({ output: [item, call] })],
      [textPart('Hey'), called],
    ],
    'a call without deltas': [
      [
        first('output_item.added', { item: { ...call, arguments: '' } }),
        first('output_item.done', { item: call }),
        completed({ output: [call] }),
      ],
      [called],
    ],
    'a call that is announced whole': [
      [
        first('output_item.added', { item: call }),
        first('function_call_arguments.done', { arguments: '{"a":1}' }),
        first('output_item.done', { item: call }),
      ],
      [called],
    ],
    'a call that is named at its end': [
      [
        first('output_item.added', { item: { type: 'function_call', call_id: 'c' } }),
        first('function_call_arguments.delta', { delta: '{"a' }),
        first('output_item.done', { item: call }),
      ],
      [called],
    ],
    'a summary in sections': [
      [
        first('reasoning_summary_text.delta', { summary_index: 0, delta: 'one' }),
        first('reasoning_summary_text.done', { summary_index: 1, text: 'two' }),
        first('output_item.done', {
          item: {
            type: 'reasoning',
            summary: [{ text: 'one' }, { text: 'two' }, { text: 'three' }],
            encrypted_content: 'gAAA',
          },
        }),
      ],
      [thinkingPart('one\n\ntwo\n\nthree', { vendor: 'openai', value: 'gAAA' })],
    ],
    'raw reasoning, and not its summary too': [
      [
        first('reasoning_text.delta', { delta: 'hm' }),
        first('reasoning_summary_text.delta', { summary_index: 0, delta: 'short' }),
      ],
      [thinkingPart('hm')],
    ],
    'reasoning that shows nothing': [
      [first('output_item.done', { item: { type: 'reasoning', summary: [] } })],
      [],
    ],
    'tools that ran at the provider': [
      [completed({ output: [{ type: 'web_search_call', id: 'ws_1' }, item] })],
      [textPart('Hey')],
    ],
  };
  for (const [what, [events, content]] of Object.entries(streams)) {
    const isEnded = events.at(-1)!.event === 'response.completed';
    const all = isEnded ? events : [...events, completed()];
    await t.test(what, () => assert.deepEqual(contentOf(all), content));
  }
});

test('an item is read once, whatever its index in the stream and in the final response', async (t) => {
  const call = (name: string) => {
    const item = { type: 'function_call', id: `fc_${name}`, call_id: `call_${name}`, name };
    return { ...item, arguments: '{"a":1}' };
  };
  const message = {
    type: 'message',
    id: 'msg_1',
    content: [{ type: 'output_text', text: 'Hey' }],
  };
  const [one, two] = [call('f'), call('g')];
  const [calledOne, calledTwo] = [one, two].map(({ call_id, name }) =>
    callPart(call_id, name, '{"a":1}'),
  ) as [object, object];
  const unnamed = ({ id: _id, ...item }: JsonObject): JsonObject => item;
  const begin = (item: JsonObject, index: number) =>
    sseEvent('response.output_item.added', {
      output_index: index,
      item: { ...item, ...(item.type === 'message' ? { content: [] } : { arguments: '' }) },
    });
  const end = (item: JsonObject, index: number) => [
    item.type === 'message'
      ? sseEvent('response.output_text.delta', {
          item_id: item.id,
          output_index: index,
          content_index: 0,
          delta: 'Hey',
        })
      : sseEvent('response.function_call_arguments.delta', {
          item_id: item.id,
          output_index: index,
          delta: '{"a":1}',
        }),
    sseEvent('response.output_item.done', { output_index: index, item }),
  ];
  const whole = (item: JsonObject, index: number) => [begin(item, index), ...end(item, index)];
  const text = textPart('Hey');
  // github.com/diegosouzapw/OmniRoute/pull/12445, /theopenco/llmgateway/pull/2908,
  // /openai/openai-agents-python/issues/3104 and 5041 (read 2026-12-01).
  const streams: Readonly<Record<string, readonly [events: SseEvent[], content: object[]]>> = {
    'indices with a gap': [
      [
        ...whole(message, 0),
        ...whole(one, 2),
        ...whole(two, 3),
        completed({ output: [message, one, two] }),
      ],
      [text, calledOne, calledTwo],
    ],
    'indices from one': [[...whole(message, 1), completed({ output: [message] })], [text]],
    'a text that only the final response has, at the index of reasoning': [
      [
        sseEvent('response.output_item.added', { output_index: 0, item: { type: 'reasoning' } }),
        completed({ output: [message] }),
      ],
      [text],
    ],
    'indices with a gap, and no ids': [
      [
        ...whole(unnamed(message), 1),
        ...whole(unnamed(message), 3),
        completed({ output: [unnamed(message), message] }),
      ],
      [text, text],
    ],
    'one index and one id for all': [
      [
        ...whole({ ...one, id: 'x' }, 0),
        ...whole({ ...two, id: 'x' }, 0),
        completed({ output: [one, two].map((item) => ({ ...item, id: 'x' })) }),
      ],
      [calledOne, calledTwo],
    ],
    'one index for all, and no final output': [
      [...whole(message, 0), ...whole(one, 0), ...whole(two, 0), completed()],
      [text, calledOne, calledTwo],
    ],
    'a call at the index of a text that has not ended': [
      [
        begin(message, 0),
        ...whole(one, 0),
        ...end(message, 1),
        completed({ output: [one, message] }),
      ],
      [text, calledOne],
    ],
    'two calls of one index by turns': [
      [begin(one, 0), begin(two, 0), ...end(one, 0), ...end(two, 0), completed()],
      [calledOne, calledTwo],
    ],
    'other ids in the final response': [
      [...whole(message, 0), completed({ output: [{ ...message, id: 'msg_2' }] })],
      [text],
    ],
    'other ids at the end of an item': [
      [begin(message, 0), ...end({ ...message, id: 'msg_2' }, 0), completed()],
      [text],
    ],
    'one id for all': [
      [
        ...whole({ ...one, id: 'x' }, 0),
        ...whole({ ...two, id: 'x' }, 1),
        completed({ output: [one, two] }),
      ],
      [calledOne, calledTwo],
    ],
    'one id for all in the final response only': [
      [completed({ output: [one, two].map((item) => ({ ...item, id: 'x' })) })],
      [calledOne, calledTwo],
    ],
  };
  for (const [what, [events, content]] of Object.entries(streams))
    await t.test(what, () => assert.deepEqual(contentOf(events), content));
});

test('each way to end is distinguished', () => {
  const called = { type: 'custom_tool_call', call_id: 'c', name: 'f', input: '' };
  const refused = { type: 'message', content: [{ type: 'refusal', refusal: 'no' }] };
  assert.equal(endOf([completed()]), 'end');
  assert.equal(endOf([completed({ output: [called] })]), 'tool-calls');
  assert.equal(endOf([completed({ output: [refused] })]), 'refusal');
  assert.equal(endOf([incomplete('max_output_tokens')]), 'length');
  assert.equal(endOf([incomplete('content_filter')]), 'content-filter');
  const failed = { error: { code: 'server_error', message: 'x' } };
  assert.equal(endOf([sseEvent('response.failed', { response: failed })]), 'status');
  assert.equal(endOf([{ event: '', data: '{"error":{"message":"proxy"}}' }]), 'status');
  assert.equal(endOf([{ event: '', data: 'oops' }]), 'unreadable');
  assert.equal(endOf([sseEvent('response.created')]), 'broken-stream');
});

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
  fc.assert(fc.property(anyUpstreamEvents, (events) => checkEvents(readAll(events))));
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
  const url = 'https://a.example';
  const annotation = { type: 'url_citation', url, title: 'A', start_index: 0, end_index: 2 };
  const done = (annotations: object[]) =>
    first('content_part.done', { part: { type: 'output_text', text: 'Hi', annotations } });
  const added = first('output_text.annotation.added', { annotation_index: 0, annotation });
  const delta = first('output_text.delta', { delta: 'Hi' });
  for (const events of [
    [delta, added, done([annotation])],
    [delta, added, done([])],
    [delta, done([annotation])],
  ]) {
    const read = readAll([...events, completed()]);
    const citations = read.flatMap((event) => (event.type === 'citation' ? [event.citation] : []));
    assert.deepEqual(
      citations.map((citation) => citation.type === 'url' && citation.url),
      [url],
    );
  }
});

test('a call without a name fails the answer, whole and streamed, and passes the straight path', () => {
  const nameless = { type: 'function_call', call_id: 'c', arguments: '{}' };
  const sent = [
    first('output_item.added', { item: nameless }),
    first('output_item.done', { item: nameless }),
    completed(),
  ];
  const events = readAll(sent);
  const last = events.at(-1);
  assert.ok(last?.type === 'error' && /no name/.test(last.failure.message), JSON.stringify(events));
  const body = { status: 'completed', output: [nameless] };
  assert.throws(() => readAnswer(body), UnreadableAnswer);
  assert.deepEqual(relayAnswer(body, contextFor()).body.output, [{ ...nameless, id: 'c' }]);
  assert.match(runPipe(relayStream(contextFor()), sent), /event: response\.completed/);
});

test('arguments before their call’s name are kept, and arguments sent as an object become JSON', () => {
  const item = { type: 'function_call', call_id: 'c', name: 'f' };
  const called = (json: string) => [callPart('c', 'f', json)];
  const deltas = [
    first('output_item.added', { item: { type: 'function_call' } }),
    first('function_call_arguments.delta', { delta: '{"a"' }),
    first('function_call_arguments.delta', { delta: ':1}' }),
    first('output_item.done', { item }),
    completed(),
  ];
  assert.deepEqual(contentOf(deltas), called('{"a":1}'));
  const whole = { ...item, arguments: { b: 2 } };
  assert.deepEqual(
    contentOf([first('output_item.done', { item: whole }), completed()]),
    called('{"b":2}'),
  );
  assert.deepEqual(readAnswer({ status: 'completed', output: [whole] }).content, called('{"b":2}'));
  for (const none of ['', 'null', undefined]) {
    const bare = { ...item, arguments: none };
    const done = [
      first('output_item.added', { item: bare }),
      first('output_item.done', { item: bare }),
    ];
    assert.deepEqual(contentOf([...done, completed()]), called('{}'));
    assert.deepEqual(readAnswer({ status: 'completed', output: [bare] }).content, called('{}'));
  }
});
