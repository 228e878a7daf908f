import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../canonical/errors.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { SseEvent } from '../../lib/sse.ts';
import {
  contextFor,
  payloadsOf,
  requestFor,
  runPipe,
  sseEvent,
  target,
} from '../../../tests/support/formats/responses.ts';
import { readWithSdk } from '../../../tests/support/formats/responses-sdk.ts';
import { answerContext, openPipe } from '../../../tests/support/pipes.ts';
import { relayAnswer } from './relay-answer.ts';
import { relayRequest } from './relay-request.ts';
import { relayStream } from './relay-stream.ts';
import { errorContext } from '../../../tests/support/error-context.ts';

const effort = { reasoning: { effort: 'low' } };
const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 };
const call = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'f',
  arguments: '{}',
  status: 'completed',
};
const message = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Hi' }],
};
const response = {
  id: 'resp_up',
  object: 'response',
  model: 'gpt-dated',
  status: 'in_progress',
  output: [],
  usage: null,
  extra: 1,
  created_at: 9,
};
const inserted = { id: 'rs_01kahw_0', type: 'reasoning', summary: [] };

test('opened fields are sent unchanged, and the gateway’s own fields are set', () => {
  const { body, ignored } = relayRequest(
    requestFor({
      stream: true,
      max_output_tokens: 3,
      store: true,
      previous_response_id: 'resp_1',
      client_metadata: { a: 1 },
      brand_new: { a: 1 },
      include: ['x'],
    }),
    { ...target, stream: true, maxOutputTokens: 3, unknown: { opened: new Set(['brand_new']) } },
  );
  assert.deepEqual(body, {
    model: 'upstream-model',
    input: 'Hi',
    stream: true,
    store: false,
    max_output_tokens: 16,
    brand_new: { a: 1 },
    include: ['x', 'reasoning.encrypted_content'],
  });
  assert.deepEqual(ignored, ['previous_response_id', 'client_metadata', 'store']);
});

test('the client’s own body is not changed', () => {
  const request = requestFor({
    previous_response_id: 'resp_1',
    input: [{ ...call, id: 'call_1' }],
  });
  const before = structuredClone(request.body);
  relayRequest(request, target);
  assert.deepEqual(request.body, before);
});

test('a model that does not think gets no thinking fields', () => {
  const asked = requestFor({ ...effort, include: ['reasoning.encrypted_content'] });
  const { body, ignored } = relayRequest(asked, { ...target, thinking: false });
  assert.deepEqual([body.reasoning, body.include, ignored], [undefined, [], ['reasoning']]);
});

test('ids that the provider did not create are left out, and its own are kept', () => {
  const kept = [
    call,
    message,
    { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' },
    { type: 'custom_tool_call', id: 'ctc_1', call_id: 'c', name: 'g', input: 'x' },
    { type: 'function_call_output', id: 'fco_1', call_id: call.call_id, output: 'r' },
    { type: 'custom_tool_call_output', id: 'ctco_1', call_id: 'c', output: 'r' },
  ];
  const sent = (input: object[]) => relayRequest(requestFor({ input }), target).body.input;
  const search = { type: 'web_search_call', id: 'ws_1' };
  assert.deepEqual(sent([...kept, search]), [...kept, search]);
  const foreign = kept.map((item) => ({ ...item, id: `x${item.id}` }));
  assert.deepEqual(
    sent(foreign),
    kept.map(({ id: _id, ...item }) => item),
  );
});

test('reasoning without content to replay is dropped and listed', () => {
  const reasoning = { type: 'reasoning', id: 'rs_1', summary: [] };
  const input = [
    { ...reasoning, summary: [{ type: 'summary_text', text: 'x' }] },
    { ...reasoning, encrypted_content: 'tg1.anthropic.{"value":"x"}' },
    { ...reasoning, encrypted_content: 'tg1.damaged' },
    inserted,
    { role: 'user', content: 'Hi' },
  ];
  const { body, ignored } = relayRequest(requestFor({ input }), target);
  assert.deepEqual(ignored, ['input[0]', 'input[1]', 'input[2]', 'input[3]']);
  assert.deepEqual(body.input, [{ role: 'user', content: 'Hi' }]);
});

test('an answer stays unchanged except for the model, call ids and, with an effort, a reasoning item', () => {
  const body = { ...response, status: 'completed', output: [call, message], usage };
  const relayed = relayAnswer(body, contextFor());
  assert.deepEqual(relayed.body, {
    ...body,
    model: 'catalogue/model',
    output: [{ ...call, id: 'call_1' }, message],
  });
  assert.equal(relayed.stop?.reason, 'tool-calls');
  assert.equal(relayed.usage?.inputTokens, 3);
  assert.equal(relayed.outputBytes, 4);
  const withEffort = relayAnswer(body, contextFor(effort));
  assert.deepEqual(withEffort.body.output, [inserted, { ...call, id: 'call_1' }, message]);
  const own = { type: 'reasoning', id: 'rs_up', summary: [] };
  assert.deepEqual(
    relayAnswer({ ...body, output: [own, message] }, contextFor(effort)).body.output,
    [own, message],
  );
});

test('a call of a host with arguments as an object and no `call_id` gets what clients read', () => {
  const { call_id: _, ...odd } = { ...call, arguments: { city: 'Oslo' } };
  const { body } = relayAnswer({ ...response, status: 'completed', output: [odd] }, contextFor({}));
  const [read] = body.output as JsonObject[];
  assert.deepEqual(read, { ...call, call_id: 'fc_1', arguments: '{"city":"Oslo"}' });
  const done = { item_id: 'fc_1', output_index: 0, arguments: odd.arguments };
  const frames = relayStream(contextFor()).push(
    sseEvent('response.function_call_arguments.done', done),
  );
  assert.equal(payloadsOf(frames)[0]!.arguments, '{"city":"Oslo"}');
});

const atCall = { item_id: 'fc_1', output_index: 0 };
const atText = { item_id: 'msg_1', output_index: 1, content_index: 0 };

/** A stream of a call and a message, numbered like OpenAI's. */
function callStream() {
  const emptyText = { type: 'output_text', text: '', annotations: [] };
  const events: readonly (readonly [string, JsonObject])[] = [
    ['response.created', { response }],
    ['response.in_progress', { response }],
    [
      'response.output_item.added',
      { output_index: 0, item: { ...call, arguments: '', status: 'in_progress' } },
    ],
    ['response.function_call_arguments.delta', { ...atCall, delta: '{}' }],
    ['response.function_call_arguments.done', { ...atCall, arguments: '{}' }],
    ['response.output_item.done', { output_index: 0, item: call }],
    ['response.output_item.added', { output_index: 1, item: { ...message, content: [] } }],
    ['response.content_part.added', { ...atText, part: emptyText }],
    ['response.output_text.delta', { ...atText, delta: 'Hi', obfuscation: 'x' }],
    ['response.content_part.done', { ...atText, part: message.content[0] }],
    ['response.output_item.done', { output_index: 1, item: message }],
    [
      'response.completed',
      { response: { ...response, status: 'completed', output: [call, message], usage } },
    ],
  ];
  return events.map(([type, fields], index) =>
    sseEvent(type, { sequence_number: index, ...fields }),
  );
}

test('a stream’s events pass with only the documented edits, and the last one waits for the charge', async () => {
  const pipe = relayStream(contextFor());
  const frames = callStream().map((event) => pipe.push(event));
  assert.equal(frames.at(-1), '');
  assert.equal(pipe.progress.status, 'finished');
  assert.equal(pipe.progress.usage?.outputTokens, 2);
  assert.equal(pipe.progress.stop?.reason, 'tool-calls');
  assert.equal(pipe.progress.output.bytes, 4);
  const last = pipe.close(0.5);
  assert.match(last, /^event: response\.completed\n/);
  const events = payloadsOf(frames.join('') + last);
  assert.deepEqual(
    events.map((event) => [
      event.type,
      event.item_id ?? (event.item as JsonObject | undefined)?.id,
      event.output_index,
    ]),
    [
      ['response.created', undefined, undefined],
      ['response.in_progress', undefined, undefined],
      ['response.output_item.added', 'call_1', 0],
      ['response.function_call_arguments.delta', 'call_1', 0],
      ['response.function_call_arguments.done', 'call_1', 0],
      ['response.output_item.done', 'call_1', 0],
      ['response.output_item.added', 'msg_1', 1],
      ['response.content_part.added', 'msg_1', 1],
      ['response.output_text.delta', 'msg_1', 1],
      ['response.content_part.done', 'msg_1', 1],
      ['response.output_item.done', 'msg_1', 1],
      ['response.completed', undefined, undefined],
    ],
  );
  assert.deepEqual(events[0]?.response, { ...response, model: 'catalogue/model' });
  assert.equal((await readWithSdk(frames.join('') + last)).output_text, 'Hi');
});

function lastOutputOf(events: readonly JsonObject[]): JsonObject[] {
  const { output } = events.at(-1)!.response as JsonObject;
  return output as JsonObject[];
}

test('an event without edits is sent on unchanged', () => {
  const pipe = relayStream(contextFor());
  const [created, inProgress, ...rest] = callStream();
  pipe.push(created!);
  pipe.push(inProgress!);
  const delta = rest.find(({ event }) => event === 'response.output_text.delta')!;
  const data = delta.data.replace('"sequence_number":8', '"sequence_number":2').replace('{', '{ ');
  assert.equal(
    pipe.push({ event: delta.event, data }),
    `event: response.output_text.delta\ndata: ${data}\n\n`,
  );
});

test('with an effort and no reasoning first, an item is inserted and all later indices move up', async () => {
  const frames = runPipe(relayStream(contextFor(effort)), callStream());
  const events = payloadsOf(frames);
  assert.deepEqual(
    events.map((event) => event.sequence_number),
    events.map((_, index) => index),
  );
  assert.deepEqual(events.slice(2, 4), [
    { type: 'response.output_item.added', sequence_number: 2, output_index: 0, item: inserted },
    { type: 'response.output_item.done', sequence_number: 3, output_index: 0, item: inserted },
  ]);
  assert.deepEqual(events[4]?.output_index, 1);
  const final = lastOutputOf(events);
  assert.deepEqual(
    final.map(({ id }) => id),
    ['rs_01kahw_0', 'call_1', 'msg_1'],
  );
  assert.equal((await readWithSdk(frames)).output.length, 3);
});

test('missing sequence numbers are added, and an empty final output is completed', () => {
  const events = callStream().map(({ event, data }) => {
    const { sequence_number: _number, ...payload } = JSON.parse(data) as Record<string, unknown>;
    if (event === 'response.completed')
      payload.response = { ...(payload.response as JsonObject), output: [] };
    return { event: '', data: JSON.stringify(payload, null, 1) };
  });
  const payloads = payloadsOf(runPipe(relayStream(contextFor()), events));
  assert.deepEqual(
    payloads.map((event) => event.sequence_number),
    payloads.map((_, index) => index),
  );
  assert.deepEqual(lastOutputOf(payloads), [{ ...call, id: 'call_1' }, message]);
});

test('an empty final output has the items in their order, also what the host did not end', async () => {
  const [start, itsCall, itsText] = [callStream().slice(0, 2), 2, 6];
  const events = callStream();
  const completed = sseEvent('response.completed', {
    response: { ...response, status: 'completed', output: [], usage },
  });
  const late = [
    ...start,
    ...events.slice(itsText, -1),
    ...events.slice(itsCall, itsText),
    completed,
  ];
  const unended = [...events.slice(0, itsText + 3), completed];
  for (const stream of [late, unended]) {
    const frames = runPipe(relayStream(contextFor()), stream);
    const final = lastOutputOf(payloadsOf(frames));
    assert.deepEqual(
      final.map(({ type, status }) => [type, status]),
      [
        ['function_call', 'completed'],
        ['message', 'completed'],
      ],
    );
    const read = await readWithSdk(frames);
    assert.equal(read.output_text, 'Hi');
    const ended = payloadsOf(frames).filter(({ type }) => type === 'response.output_item.done');
    assert.equal(ended.length, 2);
  }
});

test('a start that a host sends twice passes once, and that of another answer fails the stream', () => {
  const [created, ...rest] = callStream();
  const other = sseEvent('response.created', { response: { ...response, id: 'resp_2' } });
  for (const open of [
    () => relayStream(contextFor()),
    () => openPipe('responses', 'chat', answerContext('chat')),
  ]) {
    const statusOf = (...events: SseEvent[]) => {
      const pipe = open();
      runPipe(pipe, events);
      return pipe.progress.status;
    };
    assert.equal(statusOf(created!, created!, ...rest), 'finished');
    assert.equal(statusOf(created!, ...rest.slice(0, 5), other, ...rest), 'failed');
    const unnamed = sseEvent('response.created', { response: { ...response, id: '' } });
    assert.equal(statusOf(unnamed, ...rest.slice(0, 5), unnamed, ...rest), 'failed');
  }
});

test('a host that sends each event twice fails the stream', () => {
  const twice = callStream().flatMap((event) => [event, event]);
  for (const pipe of [
    relayStream(contextFor()),
    openPipe('responses', 'chat', answerContext('chat')),
  ]) {
    runPipe(pipe, twice);
    assert.equal(pipe.progress.status, 'failed');
  }
});

test('items of one index get one each, as OpenAI’s SDK demands', async () => {
  const stream = callStream().map(({ event, data }) => {
    const payload = JSON.parse(data) as JsonObject;
    return sseEvent(event, { ...payload, ...('output_index' in payload && { output_index: 0 }) });
  });
  for (const [asked, before] of [
    [{}, 0],
    [effort, 1],
  ] as const) {
    const frames = runPipe(relayStream(contextFor(asked)), stream);
    const indices = payloadsOf(frames).map(({ output_index: index }) => index);
    const ofCall = [before, before, before, before];
    assert.deepEqual(indices.slice(2 + 2 * before, -1), [
      ...ofCall,
      ...[...ofCall, before].map((index) => index + 1),
    ]);
    assert.equal((await readWithSdk(frames)).output.length, 2 + before);
  }
});

test('a call whose name is no text passes as it came, and leaves no gap in the numbers', () => {
  for (const name of [1.5, { index: -1 }, '', null]) {
    const unnamed = { ...call, name, arguments: '' };
    const stream = [
      ...callStream().slice(0, 2),
      sseEvent('response.output_item.added', { output_index: 0, item: unnamed }),
      sseEvent('response.completed', {
        response: { ...response, status: 'completed', output: [], usage },
      }),
    ];
    const payloads = payloadsOf(runPipe(relayStream(contextFor()), stream));
    assert.deepEqual(
      payloads.map(({ sequence_number }) => sequence_number),
      payloads.map((_, index) => index),
    );
    assert.deepEqual(lastOutputOf(payloads)[0]?.name, name);
  }
});

test('a last event with only the usage becomes a whole response', () => {
  const events = [
    ...callStream().slice(0, -1),
    sseEvent('response.completed', { response: { usage } }),
  ];
  const last = payloadsOf(runPipe(relayStream(contextFor()), events)).at(-1);
  assert.deepEqual(last?.response, {
    ...response,
    status: 'completed',
    model: 'catalogue/model',
    output: [{ ...call, id: 'call_1' }, message],
    usage: { ...usage, cost: 0 },
  });
});

test('a stream’s failure is never relayed, and ends with the format’s own events', async (t) => {
  const limited = { code: 'rate_limit_exceeded', message: 'slow' };
  const failures: Readonly<Record<string, readonly [string, object, number | null]>> = {
    failed: [
      'response.failed',
      { response: { ...response, status: 'failed', error: limited } },
      429,
    ],
    nested: ['error', { error: { type: 'server_error', code: null, message: 'slow' } }, 500],
    flat: ['error', { code: 'invalid_prompt', message: 'slow' }, 400],
  };
  for (const [what, [type, fields, status]] of Object.entries(failures)) {
    await t.test(what, () => {
      const pipe = relayStream(contextFor());
      const begin = callStream()
        .slice(0, 6)
        .map((event) => pipe.push(event))
        .join('');
      assert.equal(pipe.push(sseEvent(type, { sequence_number: 6, ...fields })), '');
      assert.equal(pipe.progress.status, 'failed');
      assert.deepEqual(pipe.progress.failure?.status, status);
      assert.equal(pipe.progress.failure?.message, 'slow');
      assert.equal(pipe.push(callStream()[6]!), '');
      const events = payloadsOf(
        begin + pipe.fail(new ApiError('upstream_error', 'It broke.'), errorContext),
      );
      const [error, failed] = events.slice(-2);
      assert.partialDeepStrictEqual(error, {
        type: 'error',
        sequence_number: 6,
        message: 'It broke.',
        error: {
          code: 'upstream_error',
          request_id: 'req_1',
          documentation_url: 'https://llm.example.com/docs/errors#upstream_error',
        },
      });
      assert.partialDeepStrictEqual(failed, {
        type: 'response.failed',
        sequence_number: 7,
        response: { id: 'resp_up', status: 'failed' },
      });
      const last = failed!.response as JsonObject;
      assert.deepEqual(last.error, { code: 'upstream_error', message: 'It broke.' });
      assert.deepEqual(last.output, [{ ...call, id: 'call_1' }]);
    });
  }
});

test('a stream that fails before it began gets its beginning', () => {
  const unreadable = relayStream(contextFor());
  unreadable.push({ event: 'x', data: '<html>' });
  const events = payloadsOf(unreadable.fail(new ApiError('upstream_error', 'x'), errorContext));
  assert.deepEqual(
    events.map(({ type, sequence_number }) => [type, sequence_number]),
    [
      ['response.created', 0],
      ['response.in_progress', 1],
      ['error', 2],
      ['response.failed', 3],
    ],
  );
});

test('an event type with a line break cannot start a new line', () => {
  const pipe = relayStream(contextFor());
  const frame = pipe.push({
    event: 'response.brand_new',
    data: '{"type":"a\\nevent: response.completed"}',
  });
  assert.equal(
    frame,
    'event: response.brand_new\ndata: {"type":"response.brand_new","sequence_number":0}\n\n',
  );
});

test('an item that is nested too deep fails the stream, and the failure can be written', () => {
  const pipe = relayStream(contextFor());
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  const item = `{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":${deep}}}`;
  assert.equal(pipe.push({ event: '', data: item }), '');
  assert.equal(pipe.progress.failure?.kind, 'unreadable');
  assert.match(
    pipe.fail(new ApiError('upstream_error', 'The provider failed.'), errorContext),
    /event: response\.failed\n/,
  );
});

test('a client that disconnects is charged for the reasoning that OpenAI hides', () => {
  const pipe = relayStream(contextFor());
  const item = { type: 'reasoning', id: 'rs_1' };
  pipe.push(sseEvent('response.output_item.added', { output_index: 0, item }));
  pipe.push(sseEvent('response.reasoning_summary_text.delta', { output_index: 0, delta: 'short' }));
  assert.equal(pipe.progress.output.bytes, 5);
  const done = { ...item, summary: [], encrypted_content: 'A'.repeat(4_000) };
  pipe.push(sseEvent('response.output_item.done', { output_index: 0, item: done }));
  assert.equal(pipe.progress.output.bytes, 3_000);
});

test('an unknown effort becomes the nearest one that the model accepts', () => {
  const sentTo = (model: string) =>
    relayRequest(requestFor({ reasoning: { effort: 'xhigh', summary: 'auto' } }), {
      ...target,
      model,
    }).body.reasoning;
  assert.deepEqual(sentTo('gpt-5'), { effort: 'high', summary: 'auto' });
  assert.deepEqual(sentTo('gpt-5.2'), { effort: 'xhigh', summary: 'auto' });
});

test('reasoning that streams without a part ends without one at the limit', () => {
  const pipe = relayStream(contextFor());
  pipe.push(sseEvent('response.created', { response: { id: 'r', status: 'in_progress' } }));
  const item = { id: 'i', type: 'reasoning', summary: [] };
  pipe.push(sseEvent('response.output_item.added', { output_index: 0, item }));
  const place = { item_id: 'i', output_index: 0, content_index: 0 };
  pipe.push(sseEvent('response.reasoning_text.delta', { ...place, delta: 'so' }));
  const types = payloadsOf(pipe.limit()).map(({ type }) => type);
  assert.deepEqual(types.slice(0, 2), [
    'response.reasoning_text.done',
    'response.output_item.done',
  ]);
});
