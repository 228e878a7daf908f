import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textPart } from '../../../tests/support/canonical/parts.ts';
import type { Json } from '../../../tests/support/plain/reading.ts';
import { parseSse } from '../../../tests/support/formats/sse.ts';
import { ApiError } from '../../canonical/errors.ts';
import { contextFor, dataEvent } from '../../../tests/support/formats/chat.ts';
import { readAnswer } from './read-answer.ts';
import { relayAnswer } from './relay-answer.ts';
import { relayStream } from './relay-stream.ts';
import { errorContext } from '../../../tests/support/error-context.ts';

const asking = { stream_options: { include_usage: true } };
const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8, cost: 1 };

function chunk(delta: object, finish: string | null = null, more: object = {}, index = 0) {
  return dataEvent({
    id: 'x',
    created: 9,
    model: 'upstream',
    choices: [{ index, delta, finish_reason: finish }],
    ...more,
  });
}

test('a chunk passes with its unknown fields and the catalogue’s model', () => {
  const pipe = relayStream(contextFor());
  const frame = pipe.push(
    chunk({ content: 'Hé', new_field: [1] }, null, { obfuscation: 'zz', usage: null }),
  );
  assert.deepEqual(JSON.parse(parseSse(frame)[0]!.data), {
    id: 'x',
    object: 'chat.completion.chunk',
    created: 9,
    model: 'catalogue/model',
    choices: [{ index: 0, delta: { content: 'Hé', new_field: [1] }, finish_reason: null }],
    obfuscation: 'zz',
  });
  assert.equal(pipe.progress.output.bytes, 3);
});

test('the bytes of every kind of output in every choice are counted once', () => {
  const pipe = relayStream(contextFor());
  pipe.push(chunk({ content: '12' }));
  pipe.push(chunk({ content: '34' }, null, {}, 1));
  pipe.push(chunk({ reasoning_content: '5', reasoning: '5', reasoning_details: [{ text: '5' }] }));
  pipe.push(
    chunk({
      refusal: '6',
      tool_calls: [{ function: { name: 'f', arguments: '78' } }, { custom: { input: '9' } }],
    }),
  );
  pipe.push(chunk({ function_call: { arguments: '0' }, content: null }));
  pipe.push(chunk({ content: [textPart('a')] }));
  assert.equal(pipe.progress.output.bytes, 11);
});

test('calls beside texts are repaired by what came before, however alike their chunks are', () => {
  const pipe = relayStream(contextFor());
  const read = (frames: string) => {
    const frame = JSON.parse(parseSse(frames)[0]!.data) as {
      choices: [{ delta: { tool_calls?: { index: number; id?: string }[] } }];
    };
    return frame.choices[0].delta.tool_calls;
  };
  const relay = (delta: object) => read(pipe.push(chunk(delta)));
  const called = { tool_calls: [{ index: 0, function: { name: 'f', arguments: '{}' } }] };
  const calls = ['a', 'b', 'c', 'd'].map((content) => relay({ content, ...called }));
  assert.deepEqual(
    calls.map((pieces) => [pieces?.[0]?.index, pieces?.[0]?.id]),
    [0, 1, 2, 3].map((index) => [index, `call_01kahw_0_${index}`]),
  );
  const beside = ['a', 'b', 'c'].map((content) => {
    const choices = [
      { index: 1, delta: { content } },
      { index: 0, delta: called },
    ];
    const [event] = parseSse(pipe.push(dataEvent({ choices })));
    return /call_01kahw_0_\d/.exec(event!.data)?.[0];
  });
  assert.deepEqual(beside, ['call_01kahw_0_4', 'call_01kahw_0_5', 'call_01kahw_0_6']);
  for (const content of ['a', 'b', 'c'])
    assert.equal(relay({ content }), undefined, 'every call has its arguments');
  relay({ tool_calls: [{ index: 7, id: 'e', function: { name: 'g' } }] });
  assert.equal(pipe.push(chunk({ content: 'd' }, 'tool_calls')), '', 'the finish waits');
  assert.deepEqual(read(pipe.limit()), [{ index: 7, function: { arguments: '{}' } }]);
});

test('a name loses the marks of channels that servers of gpt-oss leave behind it', () => {
  const named = (name: string) => ({ index: 0, id: 'a', function: { name, arguments: '{"a":1}' } });
  const calls = { tool_calls: [named('f<|channel|>commentary')] };
  const right = { tool_calls: [{ ...named('f'), type: 'function' }] };
  const pipe = relayStream(contextFor());
  const frame = JSON.parse(parseSse(pipe.push(chunk(calls)))[0]!.data) as {
    choices: [{ delta: object }];
  };
  assert.deepEqual(frame.choices[0].delta, right);
  const body = { choices: [{ index: 0, message: { content: null, ...calls } }] };
  const { choices } = relayAnswer(body, contextFor()).body as { choices: [{ message: object }] };
  assert.deepEqual(choices[0].message, { role: 'assistant', content: null, ...right });
  const [call] = readAnswer(body).content;
  assert.ok(call?.type === 'tool-call' && call.name === 'f');
});

test('a call without a name and arguments is none', () => {
  const none = { index: 1, id: '', type: 'function', function: { name: '', arguments: '' } };
  const one = { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } };
  for (const [calls, finish] of [
    [[one, none], 'tool_calls'],
    [[none], 'stop'],
  ] as const) {
    const pipe = relayStream(contextFor());
    const sent =
      pipe.push(chunk({ content: 'x' })) +
      calls.map((call) => pipe.push(chunk({ tool_calls: [call] }))).join('') +
      pipe.push(chunk({}, 'tool_calls')) +
      pipe.push(dataEvent('[DONE]'));
    assert.doesNotMatch(sent, /"name":""/);
    assert.match(sent, new RegExp(`"finish_reason":"${finish}"`));
    const message = { content: 'x', tool_calls: [...calls] };
    const body = { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] };
    const [choice] = relayAnswer(body, contextFor()).body['choices'] as [Json];
    assert.deepEqual(choice.message.tool_calls, calls.slice(0, -1));
    assert.equal(choice.finish_reason, finish);
    assert.equal(readAnswer(body).content.length, calls.length);
  }
});

test('later pieces of a call bring no empty id and no arguments that are null', () => {
  const pipe = relayStream(contextFor());
  const relay = (call: object) => {
    const choices = [
      { index: 0, delta: { tool_calls: [{ index: 0, type: 'function', ...call }] } },
    ];
    const frames = pipe.push(dataEvent({ id: 'x', choices }));
    return JSON.parse(parseSse(frames)[0]!.data);
  };
  relay({ id: 'a', function: { name: 'f', arguments: '{' } });
  for (const [id, text] of [
    ['', null],
    ['', '}'],
    [null, null],
  ]) {
    const sent = relay({ id, function: { arguments: text } });
    const [call] = sent.choices[0].delta.tool_calls;
    assert.equal(call.id ?? undefined, undefined);
    assert.equal(call.function.arguments, text ?? '');
  }
});

test('contents that are lists of texts and thinking are texts, others stay', () => {
  const pipe = relayStream(contextFor());
  const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] };
  const text = { type: 'text', text: 'Hi' };
  const reference = [text, { type: 'reference', reference_ids: [1] }];
  const deltas = [[thinking], [thinking, text], [text], reference].map((content) => {
    const [event] = parseSse(pipe.push(chunk({ content })));
    return (JSON.parse(event!.data) as { choices: [{ delta: object }] }).choices[0].delta;
  });
  assert.deepEqual(deltas, [
    { content: '', reasoning_content: 'Hm' },
    { content: 'Hi', reasoning_content: 'Hm' },
    { content: 'Hi' },
    { content: reference },
  ]);
});

test('[DONE] and what follows are held back until close()', () => {
  const pipe = relayStream(contextFor());
  pipe.push(chunk({ content: 'x' }, 'stop'));
  assert.equal(pipe.progress.status, 'running');
  assert.equal(pipe.push(dataEvent({ choices: [], usage })), '');
  assert.match(pipe.push(dataEvent('[DONE]')), /"content":"x"\},"finish_reason":"stop"/);
  assert.equal(pipe.progress.status, 'finished');
  assert.equal(pipe.push(chunk({ content: 'late' })), '');
  assert.equal(pipe.end(), '');
  assert.equal(pipe.close(0.5), 'data: [DONE]\n\n', 'nobody asked for the usage');
  assert.deepEqual(pipe.progress.stop, { reason: 'end', sequence: null });
  assert.equal(pipe.progress.usage?.outputTokens, 3);
});

test('a client that asked for usage gets it, from our own count when the upstream has none', () => {
  const counted = relayStream(contextFor(asking));
  counted.push(chunk({ content: 'x' }, 'stop'));
  assert.equal(
    counted.push(dataEvent({ choices: [], usage: { ...usage, new_count: 5 }, new_field: 1 })),
    '',
  );
  counted.push(dataEvent('[DONE]'));
  const [last, done] = parseSse(counted.close(0.5));
  const shown = { ...usage, new_count: 5, cost: 0.5 };
  assert.deepEqual(JSON.parse(last!.data), {
    id: 'x',
    object: 'chat.completion.chunk',
    created: 9,
    choices: [],
    usage: shown,
    new_field: 1,
    model: 'catalogue/model',
  });
  assert.equal(done!.data, '[DONE]');
  const uncounted = relayStream(contextFor(asking));
  uncounted.push(chunk({ content: '12345' }, 'stop'));
  uncounted.push(dataEvent('[DONE]'));
  assert.deepEqual(
    parseSse(uncounted.close(0.25)).map(({ data }) => data),
    [
      '{"id":"x","object":"chat.completion.chunk","created":9,"model":"catalogue/model","choices":[],' +
        '"usage":{"prompt_tokens":7,"completion_tokens":2,"total_tokens":9,"prompt_tokens_details":{"cached_tokens":0},' +
        '"completion_tokens_details":{"reasoning_tokens":0},"cost":0.25}}',
      '[DONE]',
    ],
  );
});

test('what follows a complete answer cannot spoil it', () => {
  for (const late of ['', 'null', '{"error":{"message":"late"}}']) {
    const pipe = relayStream(contextFor());
    pipe.push(chunk({ content: 'x' }));
    pipe.push(chunk({}, 'stop', { usage }));
    assert.match(pipe.push({ ...dataEvent({}), data: late }), /"finish_reason":"stop"/);
    assert.equal(pipe.progress.status, 'finished', late);
  }
});

test('a stream without [DONE] is finished when every requested choice has its finish reason', () => {
  const two = () => {
    const pipe = relayStream(contextFor({ n: 2 }));
    pipe.push(chunk({ content: 'x' }, 'stop'));
    return pipe;
  };
  const cut = two();
  cut.end();
  assert.equal(cut.progress.status, 'failed');
  const open = two();
  open.push(chunk({ content: 'y' }, null, {}, 1));
  open.end();
  assert.equal(open.progress.failure?.kind, 'broken-stream');
  const whole = two();
  whole.push(chunk({ content: 'y' }, 'length', {}, 1));
  whole.end();
  assert.equal(whole.progress.status, 'finished');
});

const failures: Record<
  string,
  [event: ReturnType<typeof dataEvent>, kind: string, status: number | null]
> = {
  'an error chunk': [dataEvent({ error: { message: 'boom' } }), 'broken-stream', null],
  'an error of its own': [dataEvent({ object: 'error', message: 'boom' }), 'broken-stream', null],
  'an error with a status': [
    dataEvent({ error: { message: 'boom', code: 502 }, choices: [] }),
    'status',
    502,
  ],
  'an error event': [
    { event: 'error', data: '{"error":{"message":"boom"}}' },
    'broken-stream',
    null,
  ],
  'a broken-off choice': [chunk({ content: 'x' }, 'error'), 'broken-stream', null],
  'a chunk that is no JSON': [dataEvent('nonsense'), 'unreadable', null],
};

for (const [name, [event, kind, status]] of Object.entries(failures)) {
  test(`${name} fails the stream, and the client gets none of it`, () => {
    const pipe = relayStream(contextFor());
    pipe.push(chunk({ content: 'a' }));
    assert.equal(pipe.push(event), '');
    assert.equal(pipe.progress.status, 'failed');
    assert.equal(pipe.progress.failure?.kind, kind);
    assert.equal(pipe.progress.failure?.status, status);
    assert.equal(pipe.end(), '');
    const last = pipe.fail(new ApiError('upstream_error', 'the provider failed'), errorContext);
    assert.match(last, /^data: \{"error":\{"message":"the provider failed".*\}\}\n\n$/);
  });
}

test('a stream that the gateway ends before its first choice gets one cut at the limit', () => {
  const pipe = relayStream(contextFor());
  pipe.push(dataEvent({ id: 'x', created: 9, choices: [], prompt_filter_results: [] }));
  const frames = parseSse(pipe.limit()).slice(1);
  assert.deepEqual(JSON.parse(frames[0]!.data).choices, [
    { index: 0, delta: {}, finish_reason: 'length' },
  ]);
  assert.deepEqual(pipe.progress.stop, { reason: 'length', sequence: null });
});

test('malformed choices and calls do not reach the client', () => {
  const pipe = relayStream(contextFor());
  const choicesOf = (frames: string) => JSON.parse(parseSse(frames)[0]!.data).choices;
  pipe.push(chunk({ content: 'x' }));
  assert.deepEqual(choicesOf(pipe.push(dataEvent({ id: 'x', choices: [null, 'x', []] }))), []);
  assert.deepEqual(choicesOf(pipe.push(dataEvent({ id: 'x' }))), []);
  const [choice] = choicesOf(pipe.push(chunk({ tool_calls: [null, 5] })));
  assert.deepEqual(choice.delta.tool_calls, []);
});
