// Answers of Chat hosts that break OpenAI's rules, whole and streamed: a Chat client gets what the
// official types promise, and clients of the other formats the same answer.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClientFormatName } from '../src/terms/format-name.ts';
import { UnreadableAnswer } from '../src/formats/format.ts';
import { clientFormats, upstreamFormats } from '../src/formats/registry.ts';
import { parseSse } from './support/formats/sse.ts';
import { readPlainly } from './support/plain/read-plainly.ts';
import { answerContext, clientNames, openPipe, playStream, writeWhole } from './support/pipes.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- what a client reads is not typed.
type Json = Record<string, any>;

const usage = { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 };
const usageChunk = { ...head(), choices: [], usage };

function head(): Json {
  return { id: 'chatcmpl-u', object: 'chat.completion.chunk', created: 1_760_000_000, model: 'm' };
}

function chunk(delta: Json, finish: unknown = null, more: Json = {}): Json {
  return { ...head(), choices: [{ index: 0, delta, finish_reason: finish, ...more }] };
}

function callPiece(index: number, id: string, name: string, text: string): Json {
  return { index, id, type: 'function', function: { name, arguments: text } };
}

function bytesOf(events: readonly (Json | string)[]): Uint8Array {
  const lines = events.map((event) => (typeof event === 'string' ? event : JSON.stringify(event)));
  return Buffer.from(lines.map((line) => `data: ${line}\n\n`).join(''));
}

function play(client: ClientFormatName, events: readonly (Json | string)[]) {
  const { text, failure } = playStream(openPipe('chat', client, answerContext(client)), [
    bytesOf(events),
  ]);
  const sent = parseSse(text).filter(({ data }) => data !== '[DONE]');
  return { text, failure, events: sent.map(({ data }) => JSON.parse(data) as Json) };
}

/** Plays a stream to a Chat client. Returns its text and calls, and the places of finish reasons. */
function playChat(events: readonly (Json | string)[]) {
  const played = play('chat', events);
  assert.equal(played.failure, null);
  const choices = played.events.flatMap((event) => event.choices as Json[]);
  const pieces = choices.flatMap(({ delta }) => (delta.tool_calls ?? []) as Json[]);
  return {
    chunks: played.events,
    text: choices.map(({ delta }) => delta.content ?? '').join(''),
    pieces,
    reasons: choices.map((choice) => choice.finish_reason as unknown).filter((it) => it !== null),
    last: choices.at(-1)!.finish_reason as unknown,
  };
}

function whole(message: Json, finish: unknown, more: Json = {}): Json {
  const choice = { index: 0, message: { role: 'assistant', ...message }, finish_reason: finish };
  return { ...head(), object: 'chat.completion', choices: [{ ...choice, ...more }], usage };
}

function relayWhole(body: Json): Json {
  return writeWhole('chat', 'chat', body, answerContext('chat'))!;
}

const call = callPiece(0, 'c0', 'get_weather', '{"q":"a"}');

for (const word of ['stop', 'function_call', 'tool_call', 'TOOL_CALLS', 'eos', '', 'null', null]) {
  test(`calls that finish with ${JSON.stringify(word)} finish with tool_calls, streamed and whole`, () => {
    const streamed = playChat([
      chunk({ role: 'assistant', content: null, tool_calls: [call] }),
      chunk({}, word),
      usageChunk,
      '[DONE]',
    ]);
    assert.deepEqual(streamed.reasons, ['tool_calls']);
    assert.equal(streamed.last, 'tool_calls');
    const { index: _, ...wholeCall } = call;
    const answer = relayWhole(whole({ content: null, tool_calls: [wholeCall] }, word));
    assert.equal(answer.choices[0].finish_reason, 'tool_calls');
    for (const client of ['messages', 'responses'] as const) {
      const context = answerContext(client);
      const body = writeWhole('chat', client, whole({ tool_calls: [wholeCall] }, word), context)!;
      assert.equal(
        body.stop_reason ?? body.status,
        client === 'messages' ? 'tool_use' : 'completed',
      );
    }
  });
}

for (const [word, right] of [
  ['eos', 'stop'],
  ['', 'stop'],
  ['null', 'stop'],
  ['STOP', 'stop'],
  ['tool_calls', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['sensitive', 'content_filter'],
  ['guardrail_intervened', 'content_filter'],
  ['RECITATION', 'content_filter'],
  ['refusal', 'content_filter'],
] as const) {
  test(`a text that finishes with ${JSON.stringify(word)} finishes with ${right}`, () => {
    const { reasons, last } = playChat([chunk({ content: 'hi' }), chunk({}, word), '[DONE]']);
    assert.deepEqual([reasons, last], [[right], right]);
    assert.equal(relayWhole(whole({ content: 'hi' }, word)).choices[0].finish_reason, right);
  });
}

test('a finish in mid-stream is sent once, at the end, behind all calls', () => {
  const played = playChat([
    chunk({ role: 'assistant', reasoning_content: 'T1' }),
    chunk({ tool_calls: [call] }),
    chunk({}, 'tool_calls'),
    chunk({ reasoning_content: 'T2' }),
    chunk({ tool_calls: [callPiece(1, 'c1', 'search', '{"q":"b"}')] }),
    chunk({}, 'tool_calls'),
    usageChunk,
    '[DONE]',
  ]);
  assert.deepEqual([played.reasons, played.last], [['tool_calls'], 'tool_calls']);
  assert.deepEqual(
    played.pieces.map(({ id }) => id),
    ['c0', 'c1'],
  );
});

test('a finish in mid-stream keeps the text beside it in its place', () => {
  const played = playChat([
    chunk({ role: 'assistant', content: 'a' }, 'stop'),
    chunk({ content: 'b' }, 'stop'),
    chunk({ content: 'c' }),
    '[DONE]',
  ]);
  assert.deepEqual([played.text, played.reasons, played.last], ['abc', ['stop'], 'stop']);
});

test('a usage chunk that repeats the finish adds no second one', () => {
  const repeated = { ...chunk({}, 'stop'), usage };
  const played = playChat([chunk({ content: 'hi' }), chunk({}, 'stop'), repeated, '[DONE]']);
  assert.deepEqual(played.reasons, ['stop']);
  assert.equal(played.chunks.at(-1)!.usage.prompt_tokens, 20);
});

test('a stream without any finish gets one', () => {
  const text = playChat([chunk({ content: 'hi' }), usageChunk, '[DONE]']);
  assert.deepEqual([text.reasons, text.last], [['stop'], 'stop']);
  const calls = playChat([chunk({ tool_calls: [call] }), '[DONE]']);
  assert.deepEqual([calls.reasons, calls.last], [['tool_calls'], 'tool_calls']);
});

test('a legacy function call keeps its finish reason', () => {
  const legacy = { function_call: { name: 'f', arguments: '{}' } };
  const { reasons } = playChat([chunk(legacy), chunk({}, 'function_call'), '[DONE]']);
  assert.deepEqual(reasons, ['function_call']);
  const answer = relayWhole(whole({ content: null, ...legacy }, 'function_call'));
  assert.equal(answer.choices[0].finish_reason, 'function_call');
});

for (const [how, first] of [
  ['an empty', { name: '', arguments: '{"q": ' }],
  ['no', { arguments: '{"q": ' }],
] as const) {
  test(`a call whose first piece has ${how} name is held back until it has one`, () => {
    const { pieces } = playChat([
      chunk({ role: 'assistant', content: null }),
      chunk({ tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: first }] }),
      chunk({ tool_calls: [{ index: 0, function: { name: 'get_weather', arguments: '"a"' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '}' } }] }),
      chunk({}, 'tool_calls'),
      usageChunk,
      '[DONE]',
    ]);
    assert.deepEqual(pieces[0], {
      index: 0,
      id: 'call_1',
      type: 'function',
      function: { name: 'get_weather', arguments: '{"q": "a"' },
    });
    assert.equal(pieces.map((piece) => piece.function.arguments).join(''), '{"q": "a"}');
  });
}

test('a call that never gets a name fails the answer, as in translation', () => {
  const nameless = { index: 0, id: 'c', type: 'function', function: { arguments: '{}' } };
  for (const client of clientNames) {
    const events = [chunk({ tool_calls: [nameless] }), chunk({}, 'tool_calls'), '[DONE]'];
    assert.equal(play(client, events).failure?.isBilled, true);
    const body = whole({ content: null, tool_calls: [nameless] }, 'tool_calls');
    assert.equal(writeWhole('chat', client, body, answerContext(client)), null);
  }
});

test('a name that every piece repeats is sent once', () => {
  const { pieces } = playChat([
    chunk({ tool_calls: [callPiece(0, 'c', 'f', '{"a"')] }),
    chunk({ tool_calls: [callPiece(0, 'c', 'f', ':1}')] }),
    chunk({}, 'tool_calls'),
    '[DONE]',
  ]);
  assert.deepEqual(
    pieces.map((piece) => piece.function),
    [{ name: 'f', arguments: '{"a"' }, { arguments: ':1}' }],
  );
});

for (const [what, body] of [
  ['leaves out', { choices: [{ message: { content: 'hi' }, finish_reason: null }], usage }],
  [
    'nulls',
    {
      id: null,
      object: null,
      created: null,
      model: 'm',
      choices: [{ index: null, message: { role: null, content: 'hi' }, finish_reason: 'stop' }],
      usage,
    },
  ],
] as const) {
  test(`an answer whose host ${what} required fields gets them`, () => {
    const { id, object, created, choices } = relayWhole(body);
    assert.match(id, /^chatcmpl/);
    assert.deepEqual([object, created], ['chat.completion', 1_763_683_200]);
    assert.deepEqual(choices, [
      { index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' },
    ]);
  });
}

for (const [what, absent] of [
  ['leaves out', undefined],
  ['nulls', null],
] as const) {
  test(`a stream whose host ${what} required fields gets them, the same in every chunk`, () => {
    const { chunks, reasons } = playChat([
      {
        id: absent,
        object: absent,
        created: absent,
        choices: [{ index: absent, delta: { role: 'assistant', content: 'hi' } }],
      },
      { choices: [{ delta: { content: 'h2' } }] },
      { choices: [{ delta: { content: 'h3' } }] },
      { choices: [{ delta: { content: 'h4' } }] },
      { id: absent, choices: [{ delta: {}, finish_reason: 'stop' }], usage },
    ]);
    for (const { id, object, created, choices } of chunks) {
      assert.match(id, /^chatcmpl/);
      assert.deepEqual(id, chunks[0]!.id);
      assert.equal(object, 'chat.completion.chunk');
      assert.equal(created, 1_763_683_200);
      for (const { index, finish_reason: reason } of choices) {
        assert.equal(index, 0);
        assert.notEqual(reason, undefined);
      }
    }
    assert.equal(chunks.length, 6);
    assert.deepEqual(reasons, ['stop']);
  });
}

test('chunks without an id get that of the first one', () => {
  const { chunks } = playChat([
    { ...chunk({ content: 'a' }), id: 'theirs', created: 5 },
    { choices: [{ index: 0, delta: { content: 'b' }, finish_reason: null }] },
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    '[DONE]',
  ]);
  for (const { id, created } of chunks) assert.deepEqual([id, created], ['theirs', 5]);
});

const brokenFinish = { native_finish_reason: 'network_error' };

test('a network error behind `stop` and without a word is a failure, for every client', () => {
  const events = [
    chunk({ role: 'assistant', content: '' }),
    chunk({ content: '' }, 'stop', brokenFinish),
    '[DONE]',
  ];
  const body = whole({ content: '' }, 'stop', brokenFinish);
  for (const client of clientNames) {
    const { failure } = play(client, events);
    assert.deepEqual([failure?.kind, failure?.isBilled], ['broken-stream', undefined]);
    assert.throws(() => {
      if (client === 'chat') clientFormats.chat.relay.relayAnswer(body, answerContext('chat'));
      else upstreamFormats.chat.readAnswer(body);
    }, UnreadableAnswer);
  }
});

test('an answer with words ends as its host says, whatever the native reason', () => {
  const { text, reasons } = playChat([
    chunk({ content: 'hi' }),
    chunk({}, 'stop', brokenFinish),
    '[DONE]',
  ]);
  assert.deepEqual([text, reasons], ['hi', ['stop']]);
  assert.ok(relayWhole(whole({ content: 'hi' }, 'stop', brokenFinish)));
});

test('answers of the other formats get their required fields too, whole and streamed', () => {
  const message = writeWhole('messages', 'messages', { content: [] }, answerContext('messages'))!;
  assert.match(message.id as string, /^msg_/);
  assert.deepEqual([message.type, message.role], ['message', 'assistant']);
  const started = openPipe('messages', 'messages', answerContext('messages')).push({
    event: 'message_start',
    data: '{"type":"message_start","message":{"id":null,"content":[]}}',
  });
  assert.match(started, /"id":"msg_.*"type":"message","role":"assistant"/);
  const output = { status: 'completed', output: [] };
  const response = writeWhole('responses', 'responses', output, answerContext('responses'))!;
  assert.match(response.id as string, /^resp_/);
  assert.deepEqual([response.object, response.created_at], ['response', 1_763_683_200]);
});

const thought = ['<thi', 'nk>\n', 'Hm', '.\n</th', 'ink>\n\n', 'Yes.'];
const asSent = thought.join('');

for (const [how, more] of [
  ['text', {}],
  ['a call', { tool_calls: [call] }],
] as const) {
  test(`reasoning between tags at the start of the text is reasoning in other formats, ahead of ${how}`, () => {
    const events = [
      ...thought.map((content) => chunk({ content })),
      chunk(more, 'stop'),
      usageChunk,
      '[DONE]',
    ];
    const { index: _, ...wholeCall } = call;
    const body = whole(
      { content: asSent, ...('tool_calls' in more && { tool_calls: [wholeCall] }) },
      'stop',
    );
    for (const client of ['messages', 'responses'] as const) {
      const streamed = readPlainly(client, true, play(client, events).text);
      const written = writeWhole('chat', client, body, answerContext(client));
      const read = readPlainly(client, false, JSON.stringify(written));
      for (const { text, reasoning, calls } of [streamed, read])
        assert.deepEqual([text, reasoning, calls.length], ['Yes.', 'Hm.', how === 'text' ? 0 : 1]);
    }
    assert.equal(playChat(events).text, asSent);
    assert.equal(relayWhole(body).choices[0].message.content, asSent);
  });
}

test('the words that a page is cited for are the same without the reasoning before them', () => {
  const span = { start_index: asSent.indexOf('Yes'), end_index: asSent.length };
  const citation = { type: 'url_citation', url_citation: { url: 'https://a.example', ...span } };
  const events = [
    ...thought.map((content) => chunk({ content })),
    chunk({ annotations: [citation] }, 'stop'),
    usageChunk,
    '[DONE]',
  ];
  const body = whole({ content: asSent, annotations: [citation] }, 'stop');
  const written = writeWhole('chat', 'responses', body, answerContext('responses'));
  const streamed = play('responses', events).events.at(-1)!.response as Json;
  for (const { output } of [written!, streamed] as Json[]) {
    const { text, annotations } = output.at(-1).content[0];
    const [{ start_index: start, end_index: end }] = annotations;
    assert.equal(text.slice(start, end), 'Yes.');
  }
});

test('a text that only quotes the tags stays as it is', () => {
  const quoted = [{ reasoning_content: 'Hm.' }, { content: '<think>' }, { content: 'x</think>' }];
  const events = [...quoted.map((delta) => chunk(delta)), chunk({}, 'stop'), '[DONE]'];
  const { text, reasoning } = readPlainly('messages', true, play('messages', events).text);
  assert.deepEqual([text, reasoning], ['<think>x</think>', 'Hm.']);
});
