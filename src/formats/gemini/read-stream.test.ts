import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TextSpan } from '../../canonical/citation.ts';
import {
  callPart,
  pageCitation,
  textPart,
  thinkingPart,
} from '../../../tests/support/canonical/parts.ts';
import fc from '../../../tests/support/property.ts';
import type { StreamEvent } from '../../canonical/event.ts';
import { noUsage } from '../../canonical/usage.ts';
import { UnreadableAnswer } from '../format.ts';
import { anyParts, answerBody, readChunks } from '../../../tests/support/formats/gemini.ts';
import { collect, failureOf } from '../../../tests/support/canonical/answers.ts';
import { readAnswer } from './read-answer.ts';
import { readUsage } from './usage.ts';

const call = (name: string, args: object, more: object = {}) => ({
  functionCall: { name, args },
  ...more,
});
const types = (events: Iterable<StreamEvent>) => Array.from(events, ({ type }) => type).join(' ');

test('texts of several chunks form one block, and thoughts another', () => {
  const events = readChunks(
    answerBody([{ text: 'Let me ', thought: true }], null),
    answerBody([{ text: 'see.', thought: true }], null),
    answerBody([{ text: 'Four' }], null),
    answerBody([{ text: '.' }]),
  );
  assert.equal(
    types(events),
    'start thinking-start thinking-delta thinking-delta thinking-end text-start text-delta text-delta text-end finish',
  );
});

test('the start counts the input before anything is generated', () => {
  const [start] = readChunks(
    answerBody([{ text: 'x' }], 'STOP', {
      usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 1 },
    }),
  );
  assert.deepEqual(start, { type: 'start', usage: { ...noUsage, inputTokens: 9 } });
});

test('calls keep Gemini’s ids, or get ids that do not depend on how the bytes are split', () => {
  const parts = [call('a', { x: 1 }), { functionCall: { id: 'given', name: 'b' } }, call('c', {})];
  const calls = readAnswer(answerBody(parts)).content.map(
    (part) => part.type === 'tool-call' && [part.id, part.arguments],
  );
  assert.deepEqual(calls, [
    ['call_kM3xaZ-resp0nseid_0', '{"x":1}'],
    ['given', '{}'],
    ['call_kM3xaZ-resp0nseid_2', '{}'],
  ]);
  const unnamed = readAnswer(answerBody([call('a', {})], 'STOP', { responseId: undefined }))
    .content[0]!;
  assert.match(unnamed.type === 'tool-call' ? unnamed.id : '', /^call_[a-z0-9]{26}$/);
});

const signatureCases: Record<string, [parts: object[], content: object[]]> = {
  'of a call without thoughts it stands in a hidden block ahead of it': [
    [call('f', {}, { thoughtSignature: 'c2ln' }), call('f', {})],
    [hidden('call.call_kM3xaZ-resp0nseid_0.c2ln'), toolCall(0), toolCall(1)],
  ],
  'of a call behind thoughts they carry it': [
    [{ text: 'hm', thought: true }, call('f', {}, { thoughtSignature: 'c2ln' })],
    [thinking('hm', 'call.call_kM3xaZ-resp0nseid_0.c2ln'), toolCall(0)],
  ],
  'of a text it follows the whole text': [
    [{ text: 'a', thoughtSignature: 'c2ln' }, { text: 'b' }],
    [textPart('ab'), hidden('text.c2ln')],
  ],
  'two of texts are two texts': [
    [
      { text: 'a', thoughtSignature: 'c2ln' },
      { text: 'b', thoughtSignature: 'c2lu' },
    ],
    [textPart('a'), hidden('text.c2ln'), textPart('b'), hidden('text.c2lu')],
  ],
  'of an empty text it is a part of its own': [
    [{ text: 'a' }, { text: '', thoughtSignature: 'c2ln' }],
    [textPart('a'), hidden('empty-text.c2ln')],
  ],
  'of thoughts it signs them': [
    [{ text: 'hm', thought: true, thoughtSignature: 'c2ln' }],
    [thinking('hm', 'thought.c2ln')],
  ],
};

function hidden(value: string): object {
  return { type: 'thinking', text: '', signature: { vendor: 'google', value }, redacted: true };
}

function thinking(text: string, value: string): object {
  return thinkingPart(text, { vendor: 'google', value });
}

function toolCall(index: number): object {
  return callPart(`call_kM3xaZ-resp0nseid_${index}`);
}

for (const [name, [parts, content]] of Object.entries(signatureCases)) {
  test(`a signature ${name}`, () => {
    assert.deepEqual(readAnswer(answerBody(parts)).content, content);
    const chunks = parts.map((part, index) =>
      answerBody([part], index === parts.length - 1 ? 'STOP' : null),
    );
    assert.deepEqual(collect(readChunks(...chunks))!.content, content);
  });
}

test('code that Google runs is told as text; empty texts and unknown parts are ignored', () => {
  const parts = [
    { executableCode: { code: 'x', language: 'PYTHON' }, thoughtSignature: 'c2ln' },
    { text: '' },
    { codeExecutionResult: {} },
    { surprise: 1 },
    [],
    { text: 'y' },
  ];
  const told = '\n```python\nx\n```\n\n```\n\n```\ny';
  assert.deepEqual(readAnswer(answerBody(parts)).content, [textPart(told)]);
});

test('a stream and a whole answer of the same parts agree, wherever the chunks are split', () => {
  fc.assert(
    fc.property(anyParts, fc.array(fc.boolean(), { maxLength: 8 }), (parts, cuts) => {
      const groups: object[][] = [[]];
      for (const [index, part] of parts.entries()) {
        if (cuts[index]) groups.push([]);
        groups.at(-1)!.push(part);
      }
      const chunks = groups.map((group) => answerBody(group, null));
      assert.deepEqual(
        collect(readChunks(...chunks, answerBody([]))),
        readAnswer(answerBody(parts)),
      );
    }),
  );
});

const stops: [finishReason: string, parts: object[], reason: string][] = [
  ['STOP', [{ text: 'x' }], 'end'],
  ['STOP', [call('f', {})], 'tool-calls'],
  ['MAX_TOKENS', [call('f', {})], 'length'],
  ['CONTINUATION', [{ text: 'x' }], 'length'],
  ...(
    'SAFETY RECITATION LANGUAGE BLOCKLIST PROHIBITED_CONTENT SPII OTHER IMAGE_SAFETY NO_IMAGE ' +
    'ESCALATION PUP_LIMITED_DISABLED MODEL_ARMOR'
  )
    .split(' ')
    .map((reason): [string, object[], string] => [reason, [{ text: 'x' }], 'content-filter']),
  ['FINISH_REASON_UNSPECIFIED', [{ text: 'x' }], 'end'],
  ['SOME_NEW_REASON', [{ text: 'x' }], 'end'],
];

for (const [finishReason, parts, reason] of stops) {
  test(`${finishReason} with ${Object.keys(parts[0]!).join()} is ${reason}`, () => {
    const stop = { reason, sequence: null };
    assert.deepEqual(readAnswer(answerBody(parts, finishReason)).stop, stop);
    // The finish reason may come before or after the calls.
    assert.deepEqual(
      collect(readChunks(answerBody(parts, null), answerBody([], finishReason)))!.stop,
      stop,
    );
    assert.deepEqual(
      collect(readChunks(answerBody([], finishReason), answerBody(parts, null)))!.stop,
      stop,
    );
  });
}

const blockReasons =
  'SAFETY OTHER BLOCKLIST PROHIBITED_CONTENT IMAGE_SAFETY MODEL_ARMOR JAILBREAK NEW';
for (const blockReason of blockReasons.split(' ')) {
  test(`a prompt blocked for ${blockReason} gives an empty, filtered answer`, () => {
    const blocked = { promptFeedback: { blockReason }, usageMetadata: { promptTokenCount: 4 } };
    const answer = {
      content: [],
      stop: { reason: 'content-filter', sequence: null },
      usage: { ...noUsage, inputTokens: 4 },
    };
    assert.deepEqual(readAnswer(blocked), answer);
    assert.deepEqual(collect(readChunks(blocked)), answer);
  });
}

test('a blocked prompt without counts costs nothing; other answers without counts get our own', () => {
  assert.deepEqual(
    readAnswer({ promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: {} }).usage,
    noUsage,
  );
  const usageFor = (usageMetadata: object) =>
    readAnswer(answerBody([{ text: 'x' }], 'STOP', { usageMetadata })).usage;
  assert.equal(usageFor({}), null);
  assert.deepEqual(usageFor({ candidatesTokenCount: 3 }), { ...noUsage, outputTokens: 3 });
});

test('usage: the prompt includes cache reads but not tool input, and thoughts are output beside the candidates', () => {
  const metadata = {
    promptTokenCount: 100,
    cachedContentTokenCount: 60,
    toolUsePromptTokenCount: 7,
    candidatesTokenCount: 20,
    thoughtsTokenCount: 30,
  };
  const usage = {
    ...noUsage,
    inputTokens: 47,
    cacheReadTokens: 60,
    outputTokens: 50,
    reasoningTokens: 30,
  };
  assert.deepEqual(readUsage(metadata), usage);
  assert.deepEqual(readUsage({ ...metadata, totalTokenCount: 157 }), usage);
  // A total without room for the thoughts has them among the candidates.
  const inside = { ...metadata, candidatesTokenCount: 50, totalTokenCount: 157 };
  assert.deepEqual(readUsage(inside), usage);
  assert.deepEqual(readUsage({ promptTokenCount: 5, cachedContentTokenCount: 9 }), {
    ...noUsage,
    cacheReadTokens: 5,
  });
  assert.equal(readUsage({ promptTokenCount: -1 }), null);
  assert.equal(readUsage(undefined), null);
});

test('usage: several counts of sound are summed', () => {
  const promptTokensDetails = [
    { modality: 'AUDIO', tokenCount: 30 },
    { modality: 'TEXT', tokenCount: 20 },
    { modality: 'AUDIO', tokenCount: 50 },
  ];
  assert.equal(readUsage({ promptTokenCount: 100, promptTokensDetails })!.audioTokens, 80);
});

test('the last counts of a stream are valid, even after the finish reason', () => {
  const chunk = (promptTokenCount: number, finish: string | null) =>
    answerBody([{ text: 'x' }], finish, {
      usageMetadata: { promptTokenCount, candidatesTokenCount: 1 },
    });
  const late = { usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 4 } };
  assert.deepEqual(collect(readChunks(chunk(10, null), chunk(8, 'STOP'), late))!.usage, {
    ...noUsage,
    inputTokens: 9,
    outputTokens: 4,
  });
  assert.equal(
    collect(readChunks(chunk(10, null), answerBody([], 'STOP', { usageMetadata: {} })))!.usage!
      .inputTokens,
    10,
  );
});

test('web sources become citations of the text, with spans in characters', () => {
  const text = 'Größe zählt. Paris liegt an der Seine.';
  const segment = { startIndex: 16, endIndex: 42, text: 'Paris liegt an der Seine.' };
  const groundingMetadata = {
    groundingChunks: [
      { web: { uri: 'https://a.example', title: 'A' } },
      { retrievedContext: { text: 'x' } },
    ],
    groundingSupports: [
      { segment, groundingChunkIndices: [0, 1] },
      { segment: {}, groundingChunkIndices: [7] },
    ],
  };
  const citationMetadata = {
    citations: [
      { endIndex: 8, uri: 'https://b.example' },
      { startIndex: 900, endIndex: 901, uri: 'https://c.example' },
    ],
  };
  const candidate = {
    content: { parts: [{ text }] },
    finishReason: 'STOP',
    groundingMetadata,
    citationMetadata,
  };
  const source = (url: string, title: string | null, span: TextSpan | null) =>
    pageCitation({ url, title, span });
  assert.deepEqual(readAnswer({ candidates: [candidate] }).content, [
    {
      type: 'text',
      text,
      citations: [
        source('https://a.example', 'A', { start: 13, end: 38 }),
        source('https://b.example', null, { start: 0, end: 6 }),
        source('https://c.example', null, null),
      ],
    },
  ]);
});

/** Chunks, and the kind, status and message of their failure. */
const failures: Record<string, [chunks: unknown[], failure: RegExp]> = {
  'a stream that just ends': [
    [answerBody([{ text: 'x' }], null)],
    /^broken-stream null: .*finish reason/,
  ],
  'an empty stream': [[], /^broken-stream null: .*finish reason/],
  'a chunk that is no JSON': [['{"cand'], /^unreadable null: .*not a JSON object/],
  'an error': [
    [{ error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' } }],
    /^status 503: overloaded$/,
  ],
  'an error in a list': [[[{ error: { code: 429, message: 'quota' } }]], /^status 429: quota$/],
  'an error without a status': [
    [answerBody([{ text: 'x' }], null), { error: { message: 'boom' } }],
    /^broken-stream null: boom$/,
  ],
  'a call without a name': [
    [answerBody([{ functionCall: { args: {} } }])],
    /^unreadable null: .*no name/,
  ],
};

for (const reason of [
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MISSING_THOUGHT_SIGNATURE',
  'MALFORMED_RESPONSE',
])
  failures[`the finish reason ${reason}`] = [
    [answerBody([call('f', {})], reason)],
    new RegExp(`^unreadable null: .*${reason}`),
  ];

for (const [name, [chunks, expected]] of Object.entries(failures)) {
  test(`${name} fails the stream once`, () => {
    const events = readChunks(...chunks);
    const ends = events.filter(({ type }) => type === 'error' || type === 'finish');
    assert.deepEqual(ends, [events.at(-1)]);
    assert.match(failureOf(events), expected);
  });
}

test('whole answers fail like streams', () => {
  for (const body of [
    null,
    [],
    {},
    { candidates: [] },
    { error: { message: 'x' } },
    answerBody([{ text: 'x' }], null),
  ]) {
    assert.throws(() => readAnswer(body), UnreadableAnswer);
  }
  assert.throws(
    () => readAnswer(answerBody([call('f', {})], 'MALFORMED_FUNCTION_CALL')),
    /MALFORMED_FUNCTION_CALL/,
  );
});

test('an empty signed text at the end of a stream does not separate the sources from their text', () => {
  const source = {
    citationMetadata: {
      citationSources: [{ uri: 'https://a.example', startIndex: 0, endIndex: 4 }],
    },
  };
  const last = answerBody([{ text: '', thoughtSignature: 'c2ln' }], 'STOP') as {
    candidates: object[];
  };
  const withSource = { ...last, candidates: [{ ...last.candidates[0], ...source }] };
  const events = readChunks(answerBody([{ text: 'Four' }], null), withSource);
  assert.equal(
    types(events),
    'start text-start text-delta citation text-end thinking-start thinking-signature thinking-end finish',
  );
});

test('a text that is not the last part keeps its sources, whole and streamed', () => {
  const citationMetadata = {
    citations: [
      { endIndex: 4, uri: 'https://a.example' },
      { startIndex: 2, endIndex: 6, uri: 'https://b.example' },
    ],
  };
  const content = {
    parts: [{ text: 'Four' }, { text: 'Hm.', thought: true }, { text: 'Twelve' }, call('f', {})],
  };
  const body = { candidates: [{ content, finishReason: 'STOP', citationMetadata }] };
  for (const parts of [readAnswer(body).content, collect(readChunks(body))!.content]) {
    const cited = parts.map((part) => ('citations' in part ? part.citations : []));
    assert.deepEqual(
      cited.map((list) => list!.map((citation) => 'url' in citation && citation.url)),
      [['https://a.example'], [], ['https://b.example'], []],
    );
  }
});

test('sources that come when their text has ended go to the end of the answer', () => {
  const sources = (...urls: string[]) => ({
    citationMetadata: { citations: urls.map((uri) => ({ endIndex: 4, uri })) },
  });
  const chunk = (parts: object[], finish: string | null, more: object) => ({
    candidates: [{ content: { parts }, ...(finish !== null && { finishReason: finish }), ...more }],
  });
  const late = chunk([], 'STOP', sources('https://a.example', 'https://b.example'));
  const repeated = chunk([], 'STOP', sources('https://a.example'));
  const called = chunk([call('f', {})], null, {});
  const first = chunk([{ text: 'Four' }], null, sources('https://a.example'));
  const urls = (...chunks: object[]) =>
    collect(readChunks(...chunks))!.content.map(
      (part) => 'citations' in part && part.citations?.map((page) => 'url' in page && page.url),
    );
  assert.deepEqual(urls(first, called, late), [
    ['https://a.example'],
    false,
    ['https://b.example'],
  ]);
  assert.deepEqual(urls(first, called, repeated), [['https://a.example'], false]);
  // Without any text there is nothing to cite.
  assert.deepEqual(urls(called, late), [false]);
});
