import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textPart, thinkingPart } from '../../../tests/support/canonical/parts.ts';
import fc from '../../../tests/support/property.ts';
import { checkEvents, collect, failureOf } from '../../../tests/support/canonical/answers.ts';
import type { Answer } from '../../canonical/answer.ts';
import type { Citation } from '../../canonical/citation.ts';
import type { StreamEvent } from '../../canonical/event.ts';
import type { ToolCallPart } from '../../canonical/request.ts';
import type { SseEvent } from '../../lib/sse.ts';
import { anyJsonObject, dataEvent, readAll } from '../../../tests/support/formats/chat.ts';
import { readStream } from './read-stream.ts';

const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 };

function chunk(delta: object, finish: string | null = null, more: object = {}) {
  return dataEvent({ choices: [{ index: 0, delta, finish_reason: finish }], ...more });
}

function call(fields: object, text?: string, name?: string) {
  return {
    tool_calls: [
      {
        ...fields,
        function: {
          ...(name ? { name } : null),
          ...(text === undefined ? null : { arguments: text }),
        },
      },
    ],
  };
}

/** Returns the tool calls of a stream of these deltas, and checks that blocks never overlap. */
function readCalls(...deltas: object[]): string[] {
  const events = readAll([
    ...deltas.map((delta) => chunk(delta)),
    chunk({}, 'tool_calls'),
    dataEvent('[DONE]'),
  ]);
  checkEvents(events);
  const calls = collect(events)!.content.filter(
    (part): part is ToolCallPart => part.type === 'tool-call',
  );
  return calls.map((part) => `${part.id} ${part.name}(${part.arguments})`);
}

const toolCallCases: Record<string, [deltas: object[], calls: string[]]> = {
  'id and name come once, arguments in pieces': [
    [call({ index: 0, id: 'a' }, '', 'f'), call({ index: 0 }, '{"x"'), call({ index: 0 }, ':1}')],
    ['a f({"x":1})'],
  ],
  'an id that comes late is waited for': [
    [call({ index: 0 }, '{', 'f'), call({ index: 0, id: 'a' }, '}')],
    ['a f({})'],
  ],
  'a name that comes late is waited for': [
    [call({ index: 0, id: 'a' }, '{'), call({ index: 0 }, '}', 'f')],
    ['a f({})'],
  ],
  'empty and repeated ids and names add nothing': [
    [
      call({ index: 0, id: 'a' }, '{', 'f'),
      call({ index: 0, id: '' }, '}', ''),
      call({ index: 0, id: 'a' }, ' ', 'f'),
    ],
    ['a f({} )'],
  ],
  'a new id without a name continues the call': [
    [call({ index: 0, id: 'a' }, '{', 'f'), call({ index: 0, id: 'b' }, '}')],
    ['a f({})'],
  ],
  'one index with another id and name is another call': [
    [call({ index: 0, id: 'a' }, '{"x":1}', 'f'), call({ index: 0, id: 'b' }, '{"x":2}', 'f')],
    ['a f({"x":1})', 'b f({"x":2})'],
  ],
  'without an index the id tells the calls apart': [
    [call({ id: 'a' }, '{', 'f'), call({}, '}'), call({ id: 'b' }, '{}', 'g')],
    ['a f({})', 'b g({})'],
  ],
  'interleaved calls come one after the other': [
    [
      call({ index: 0, id: 'a' }, '{"x":', 'f'),
      call({ index: 1, id: 'b' }, '{"y":', 'g'),
      call({ index: 0 }, '1}'),
      call({ index: 1 }, '2}'),
    ],
    ['a f({"x":1})', 'b g({"y":2})'],
  ],
  'three calls that end in the reverse order keep theirs': [
    [
      call({ index: 0, id: 'a' }, '{', 'f'),
      call({ index: 1, id: 'b' }, '{', 'g'),
      call({ index: 2, id: 'c' }, '{}', 'h'),
      call({ index: 1 }, '}'),
      call({ index: 0 }, '}'),
    ],
    ['a f({})', 'b g({})', 'c h({})'],
  ],
  'a function without arguments gets an empty object': [
    [call({ index: 0, id: 'a' }, undefined, 'f')],
    ['a f({})'],
  ],
  'arguments that come as an object are written as JSON': [
    [{ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: { x: 1 } } }] }],
    ['a f({"x":1})'],
  ],
  'a call without a name and arguments is none': [
    [call({ index: 0, id: 'a' }, '{}', 'f'), call({ index: 1, id: '' }, '', ''), { content: 'x' }],
    ['a f({})'],
  ],
  'a custom tool has free text': [
    [
      { tool_calls: [{ index: 0, id: 'a', type: 'custom', custom: { name: 'p', input: '*** ' } }] },
      { tool_calls: [{ index: 0, custom: { input: 'x' } }] },
    ],
    ['a p(*** x)'],
  ],
};

for (const [name, [deltas, calls]] of Object.entries(toolCallCases)) {
  test(`tool calls: ${name}`, () => assert.deepEqual(readCalls(...deltas), calls));
}

test('a tool call without an id gets one of its own', () => {
  assert.match(readCalls(call({ index: 0 }, '{}', 'f'))[0]!, /^call_[a-z0-9]+ f\(\{\}\)$/);
});

test('any interleaving of the pieces of several calls gives the same calls', () => {
  const anyCalls = fc.array(anyJsonObject, { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(
      anyCalls,
      fc.infiniteStream(fc.nat()),
      fc.integer({ min: 1, max: 6 }),
      (calls, picks, size) => {
        const texts = calls.map((value) => JSON.stringify(value));
        const waiting = texts.map((text, index) => [
          call({ index, id: `id${index}` }, '', `f${index}`),
          ...Array.from({ length: Math.ceil(text.length / size) }, (_, piece) =>
            call({ index }, text.slice(piece * size, (piece + 1) * size)),
          ),
        ]);
        const deltas: object[] = [];
        // Calls begin in order; their other pieces arrive in any order.
        for (const pieces of waiting) deltas.push(pieces.shift()!);
        for (;;) {
          const left = waiting.filter((pieces) => pieces.length > 0);
          if (left.length === 0) break;
          deltas.push(left[picks.next().value! % left.length]!.shift()!);
        }
        assert.deepEqual(
          readCalls(...deltas),
          texts.map((text, index) => `id${index} f${index}(${text})`),
        );
      },
    ),
  );
});

test('reasoning is read once, under any of its names or several', () => {
  const deltas = [
    { reasoning_content: 'a', reasoning: 'a' },
    { reasoning: 'b', reasoning_details: [{ type: 'reasoning.text', text: 'b', index: 0 }] },
    {
      reasoning_details: [
        { type: 'reasoning.text', index: 0, signature: 's', format: 'anthropic-claude-v1' },
      ],
    },
    { content: [{ type: 'thinking', thinking: [textPart('c')] }] },
    { content: [textPart('answer')] },
  ];
  const answer = collect(readAll([...deltas.map((delta) => chunk(delta)), chunk({}, 'stop')]));
  assert.deepEqual(answer!.content, [
    thinkingPart('ab', { vendor: 'anthropic', value: 's' }),
    thinkingPart('c'),
    textPart('answer'),
  ]);
});

test('only the choice without an index or with index 0 is read', () => {
  const events = readAll([
    dataEvent({
      choices: [{ delta: { content: 'mine' } }, { index: 1, delta: { content: 'other' } }],
    }),
    chunk({}, 'stop'),
  ]);
  assert.deepEqual(collect(events)!.content, [textPart('mine')]);
});

test('a message in a single chunk is read, and a message that repeats the deltas is not', () => {
  const whole = dataEvent({
    choices: [{ index: 0, message: { content: 'Hi' }, finish_reason: 'stop' }],
  });
  assert.deepEqual(collect(readAll([whole]))!.content, [textPart('Hi')]);
  assert.deepEqual(collect(readAll([chunk({ content: 'Hi' }), whole]))!.content, [textPart('Hi')]);
});

const types = (events: readonly StreamEvent[]) => events.map(({ type }) => type);

test('a stream finishes once: at [DONE], or at the end', () => {
  const done = readStream();
  done.push(chunk({ content: 'x' }, null, { usage: { ...usage, completion_tokens: 1 } }));
  assert.deepEqual(types(done.push(chunk({}, 'stop', { usage }))), []);
  assert.deepEqual(types(done.push(dataEvent('[DONE]'))), ['text-end', 'finish']);
  assert.deepEqual(done.end(), []);
  const ended = readStream();
  ended.push(chunk({ content: 'x' }, 'stop'));
  assert.deepEqual(types(ended.end()), ['text-end', 'finish']);
});

test('the last usage counts, also behind one that came with the finish reason', () => {
  const cached = { ...usage, prompt_tokens_details: { cached_tokens: 2 } };
  const chunks = [
    chunk({ content: 'x' }),
    chunk({}, 'stop', { usage }),
    dataEvent({ choices: [], usage: cached }),
    dataEvent('[DONE]'),
  ];
  assert.equal(collect(readAll(chunks))!.usage!.cacheReadTokens, 2);
});

test('what follows a complete answer cannot spoil it', () => {
  for (const late of ['', 'null', '{"error":{"message":"late"}}']) {
    const complete = [chunk({ content: 'x' }), chunk({}, 'stop', { usage })];
    const answer = collect(readAll([...complete, { ...dataEvent({}), data: late }]));
    assert.equal(answer?.usage?.outputTokens, usage.completion_tokens, late);
  }
});

test('[DONE] without a finish reason ends a stream, as Snowflake sends it', () => {
  const answer = collect(readAll([chunk({ content: 'x' }), dataEvent('[DONE]')]));
  assert.deepEqual(answer!.stop, { reason: 'end', sequence: null });
});

/** Events, and the kind, status and message of their failure. */
const failures: Record<string, [events: SseEvent[], failure: RegExp]> = {
  'a stream that just ends': [[chunk({ content: 'x' })], /^broken-stream null: .*mid-answer/],
  'a stream without an answer': [[dataEvent('[DONE]')], /^broken-stream null: .*no answer/],
  'an empty stream': [[], /^broken-stream null: .*mid-answer/],
  'an error object': [
    [chunk({ content: 'x' }), dataEvent({ error: { message: 'boom', code: 'server_error' } })],
    /^broken-stream null: boom$/,
  ],
  'an error with a status': [
    [chunk({ content: 'x' }, 'error', { error: { message: 'busy', code: 429 } })],
    /^status 429: busy$/,
  ],
  'an error as a string': [[dataEvent({ code: 'x', error: 'bad' })], /^broken-stream null: bad$/],
  'an object of its own': [
    [chunk({ content: 'x' }), dataEvent({ object: 'error', message: 'busy', code: 503 })],
    /^status 503: busy$/,
  ],
  'an error event': [
    [{ event: 'error', data: '{"message":"over capacity","status_code":498}' }],
    /^status 498: over capacity$/,
  ],
  'a finish reason that means a break': [
    [chunk({ content: 'x' }), chunk({}, 'insufficient_system_resource')],
    /^broken-stream null: .*insufficient/,
  ],
  'a chunk that is no JSON': [
    [chunk({ content: 'x' }), dataEvent('{"choices":[')],
    /^unreadable null: .*not a JSON object/,
  ],
  'a tool call without a name': [
    [chunk(call({ index: 0, id: 'a' }, '{}')), chunk({}, 'tool_calls')],
    /^unreadable null: .*no name/,
  ],
  'arguments for a call that was complete': [
    [
      chunk(call({ index: 0, id: 'a' }, '{}', 'f')),
      chunk(call({ index: 1, id: 'b' }, '{', 'g')),
      chunk(call({ index: 0 }, '{}')),
    ],
    /^unreadable null: .*complete/,
  ],
};

for (const [name, [events, expected]] of Object.entries(failures)) {
  test(`${name} ends in an error after a start`, () => {
    const read = readAll(events);
    assert.equal(read[0]!.type, 'start');
    const ends = read.filter(({ type }) => type === 'error' || type === 'finish');
    assert.deepEqual(ends, [read.at(-1)]);
    assert.match(failureOf(read), expected);
  });
}

const stopCases: [finish: string, delta: object, reason: string][] = [
  ['stop', { content: 'x' }, 'end'],
  ['stop', call({ index: 0, id: 'a' }, '{}', 'f'), 'tool-calls'],
  ['length', call({ index: 0, id: 'a' }, '{"x', 'f'), 'length'],
  ['stop', { refusal: 'no' }, 'refusal'],
  ['content_filter', { content: 'x' }, 'content-filter'],
  ['model_length', { content: 'x' }, 'length'],
  ['some_new_reason', { content: 'x' }, 'end'],
];

for (const [finish, delta, reason] of stopCases) {
  test(`finish_reason ${finish} with ${Object.keys(delta).join()} is ${reason}`, () => {
    assert.equal(collect(readAll([chunk(delta), chunk({}, finish)]))!.stop.reason, reason);
  });
}

test('the stop sequence that vLLM and SGLang name is read', () => {
  const stopOf = (named: object) => {
    const choices = [{ index: 0, delta: {}, finish_reason: 'stop', ...named }];
    return collect(readAll([chunk({ content: 'x' }), dataEvent({ choices })]))!.stop;
  };
  const met = { reason: 'stop-sequence', sequence: 'END' };
  assert.deepEqual(stopOf({ stop_reason: 'END' }), met);
  assert.deepEqual(stopOf({ matched_stop: 'END' }), met);
  // The number of a token that ends every answer.
  const ended = { reason: 'end', sequence: null };
  assert.deepEqual(stopOf({ stop_reason: 151_643, matched_stop: null }), ended);
});

const annotation = (url: string, start = 0, end = 0) => ({
  type: 'url_citation',
  url_citation: { url, title: 'T', start_index: start, end_index: end },
});
const cited = (answer: Answer | null) =>
  answer?.content.flatMap((part) =>
    part.type === 'text' ? [[part.text, ...(part.citations ?? []).map(pageOf)]] : [],
  );
const pageOf = (citation: Citation) => (citation.type === 'url' ? citation.url : citation.type);
const done = dataEvent('[DONE]');

test('a citation in a later block keeps its span, which refers to the whole text', () => {
  const deltas = [
    { content: 'abc' },
    { reasoning_content: 'hm' },
    { content: 'def', annotations: [annotation('a:1', 4, 6)] },
  ];
  const answer = collect(
    readAll([...deltas.map((delta) => chunk(delta)), chunk({}, 'stop'), done]),
  );
  const [citation] = answer!.content.flatMap((part) =>
    part.type === 'text' ? (part.citations ?? []) : [],
  );
  assert.deepEqual(citation?.type === 'url' && citation.span, { start: 1, end: 3 });
});

test('the pages listed beside the chunks are cited once, from the last list', () => {
  const events = [
    chunk({ content: 'x [1]' }, null, { citations: ['a:1'] }),
    chunk({}, 'stop', { citations: ['a:1', 'a:2'] }),
    done,
  ];
  assert.deepEqual(cited(collect(readAll(events))), [['x [1]', 'a:1', 'a:2']]);
});

test('sources that arrive after the calls are kept', () => {
  const source = {
    type: 'url_citation',
    url_citation: { url: 'https://a.example', title: 'A', start_index: 0, end_index: 3 },
  };
  const events = readAll([
    chunk({ content: 'See' }),
    chunk(call({ index: 0, id: 'c' }, '{}', 'f')),
    chunk({ annotations: [source] }),
    chunk({}, 'tool_calls'),
    dataEvent('[DONE]'),
  ]);
  checkEvents(events);
  const urls = events.flatMap((event) =>
    event.type === 'citation' && event.citation.type === 'url' ? [event.citation.url] : [],
  );
  assert.deepEqual(urls, ['https://a.example']);
});

test('arguments sent as a list are kept', () => {
  assert.deepEqual(
    readCalls({ tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: [1] } }] }),
    ['c f([1])'],
  );
});
