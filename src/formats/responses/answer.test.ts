import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  callPart,
  pageCitation,
  textPart,
  thinkingPart,
} from '../../../tests/support/canonical/parts.ts';
import fc from '../../../tests/support/property.ts';
import { answerOf, collect } from '../../../tests/support/canonical/answers.ts';
import { parseSse } from '../../../tests/support/formats/sse.ts';
import type { Answer } from '../../canonical/answer.ts';
import type { AssistantPart } from '../../canonical/request.ts';
import { noUsage } from '../../canonical/usage.ts';
import type { JsonObject } from '../../lib/json.ts';
import { UnreadableAnswer, type AnswerContext } from '../format.ts';
import {
  anyAnswer,
  contextFor,
  payloadsOf,
  readAll,
  requestFor,
  runPipe,
  streamAnswer,
  target,
} from '../../../tests/support/formats/responses.ts';
import { checkStream } from '../../../tests/support/stream-rules.ts';
import { readAnswer } from './read-answer.ts';
import { readRequest } from './read-request.ts';
import { readWithSdk } from '../../../tests/support/formats/responses-sdk.ts';
import { relayRequest } from './relay-request.ts';
import { writeAnswer } from './write-answer.ts';
import { writeStream } from './write-stream.ts';

const effort = { reasoning: { effort: 'high' } };

/** Every response names the tier that it shows. */
const withTier = (answer: Answer): Answer => ({
  ...answer,
  usage: answer.usage && { ...answer.usage, tier: 'standard' },
});

test('an answer survives being written and read', () => {
  fc.assert(
    fc.property(anyAnswer, fc.boolean(), (answer, asksForReasoning) => {
      const body = writeAnswer(answer, contextFor(asksForReasoning ? effort : {}));
      assert.deepEqual(readAnswer(JSON.parse(JSON.stringify(body))), withTier(answer));
    }),
  );
});

test('a stream, written and read, collects to the same answer', () => {
  fc.assert(
    fc.property(
      anyAnswer,
      fc.boolean(),
      fc.integer({ min: 1, max: 9 }),
      (answer, asksForReasoning, pieceSize) => {
        const frames = streamAnswer(answer, contextFor(asksForReasoning ? effort : {}), pieceSize);
        assert.deepEqual(collect(readAll(parseSse(frames))), withTier(answer));
      },
    ),
  );
});

test('the final event of a stream holds the same answer as without streaming', () => {
  fc.assert(
    fc.property(anyAnswer, (answer) => {
      const context = contextFor();
      assert.deepEqual(
        payloadsOf(streamAnswer(answer, context)).at(-1)?.response,
        freeAnswer(answer, context),
      );
    }),
  );
});

/** The whole answer, with cost 0. */
function freeAnswer(answer: Answer, context: AnswerContext): unknown {
  const { usage, ...body } = writeAnswer(answer, context);
  return plain({ ...body, usage: { ...(usage as JsonObject), cost: 0 } });
}

test('every stream keeps the rules of Responses streams', () => {
  fc.assert(
    fc.property(anyAnswer, fc.boolean(), (answer, asksForReasoning) => {
      const frames = streamAnswer(answer, contextFor(asksForReasoning ? effort : {}));
      assert.equal(checkStream('responses', frames).ending, 'success');
    }),
  );
});

test('the official SDK reads every stream in full', async () => {
  await fc.assert(
    fc.asyncProperty(anyAnswer, fc.boolean(), async (answer, asksForReasoning) => {
      const context = contextFor(asksForReasoning ? effort : {});
      const response = await readWithSdk(streamAnswer(answer, context));
      assert.deepEqual(readAnswer(response), withTier(answer));
      assert.equal(response.output_text, textOf(answer.content));
    }),
    { numRuns: 50 },
  );
});

test('reasoning streams as reasoning_text, a call as its arguments', () => {
  const answer = answerOf([
    thinkingPart('hm', { vendor: 'anthropic', value: 'sig' }),
    callPart('call_1'),
    callPart('call_2', 'g', 'x', 'custom'),
  ]);
  const frames = streamAnswer(answer, contextFor(effort));
  assert.deepEqual(
    typesOf(frames),
    (
      'response.created response.in_progress response.output_item.added ' +
      'response.reasoning_text.delta response.reasoning_text.done response.output_item.done ' +
      'response.output_item.added response.function_call_arguments.delta ' +
      'response.function_call_arguments.done response.output_item.done ' +
      'response.output_item.added response.custom_tool_call_input.delta ' +
      'response.custom_tool_call_input.done response.output_item.done response.completed'
    ).split(' '),
  );
  const call = payloadsOf(frames).find(
    (event) => event.type === 'response.function_call_arguments.done',
  );
  assert.deepEqual([call?.item_id, call?.output_index, call?.arguments], ['call_1', 1, '{}']);
});

test('with an effort and no reasoning, an inserted reasoning item comes first', async () => {
  const answer = answerOf([textPart('Hi')]);
  const context = contextFor(effort);
  const inserted = { id: 'rs_01kahw_0', type: 'reasoning', summary: [] };
  assert.deepEqual((writeAnswer(answer, context).output as JsonObject[])[0], inserted);
  const frames = streamAnswer(answer, context);
  const events = payloadsOf(frames);
  assert.deepEqual(events.slice(2, 5), [
    { type: 'response.output_item.added', sequence_number: 2, output_index: 0, item: inserted },
    { type: 'response.output_item.done', sequence_number: 3, output_index: 0, item: inserted },
    { ...events[4], type: 'response.output_item.added', sequence_number: 4, output_index: 1 },
  ]);
  assert.equal((await readWithSdk(frames)).output[1]?.type, 'message');
  const empty = streamAnswer({ ...answer, content: [] }, context);
  assert.deepEqual(
    payloadsOf(empty).at(-1)?.response,
    freeAnswer({ ...answer, content: [] }, context),
  );
});

test('a function call’s id is its call_id, every other id is unique', () => {
  const content: AssistantPart[] = [
    callPart('toolu_1'),
    textPart('a'),
    callPart('toolu_2'),
    textPart('b'),
  ];
  const { output } = writeAnswer(answerOf(content), contextFor());
  assert.deepEqual(
    (output as JsonObject[]).map(({ id }) => id),
    ['toolu_1', 'msg_01kahw_1', 'toolu_2', 'msg_01kahw_3'],
  );
});

test('a cut answer is incomplete, and so is only its last item', () => {
  const answer = answerOf([textPart('a'), callPart('c', 'f', '{"a')], {
    stop: { reason: 'length', sequence: null },
  });
  const body = writeAnswer(answer, contextFor());
  assert.equal(body.status, 'incomplete');
  assert.deepEqual(body.incomplete_details, { reason: 'max_output_tokens' });
  assert.deepEqual(
    (body.output as JsonObject[]).map(({ status }) => status),
    ['completed', 'incomplete'],
  );
  assert.equal(typesOf(streamAnswer(answer, contextFor())).at(-1), 'response.incomplete');
});

test('a refusal without text is distinguished from a success', () => {
  const refused = answerOf([], { stop: { reason: 'refusal', sequence: null } });
  const body = writeAnswer(refused, contextFor());
  assert.equal(body.status, 'incomplete');
  assert.deepEqual(body.incomplete_details, { reason: 'content_filter' });
});

test('usage counts cached tokens once: disjoint inside, included outside', () => {
  const usage = {
    ...noUsage,
    inputTokens: 10,
    cacheReadTokens: 5,
    cacheWriteTokens: 3,
    outputTokens: 7,
    reasoningTokens: 2,
  };
  const body = writeAnswer(answerOf([], { usage }), contextFor());
  assert.deepEqual(body.usage, {
    input_tokens: 18,
    input_tokens_details: { cached_tokens: 5, cache_write_tokens: 3 },
    output_tokens: 7,
    output_tokens_details: { reasoning_tokens: 2 },
    total_tokens: 25,
  });
});

test('an upstream’s implausible usage is ignored', () => {
  assert.deepEqual(readUsageOf({ input_tokens: -1, output_tokens: 1 }), {
    ...noUsage,
    outputTokens: 1,
  });
  assert.equal(readUsageOf({ input_tokens: 0, output_tokens: 0 }), null);
  assert.deepEqual(readUsageOf({ input_tokens: 4, output_tokens: 1.5 }), {
    ...noUsage,
    inputTokens: 4,
  });
  assert.equal(readUsageOf(null), null);
  assert.deepEqual(
    readUsageOf({ input_tokens: 5, output_tokens: 1, input_tokens_details: { cached_tokens: 9 } }),
    { ...noUsage, cacheReadTokens: 5, outputTokens: 1 },
  );
});

test('any vendor’s reasoning returns byte for byte through a Responses client, even one that drops its text', () => {
  for (const vendor of ['anthropic', 'openai', 'google'] as const) {
    const part: AssistantPart = thinkingPart('I see "it".\n', { vendor, value: 'Eq/+==' });
    const { output } = writeAnswer(answerOf([part]), contextFor());
    const back = readRequest(
      requestFor({
        input: [...(plain(output) as JsonObject[]), { role: 'user', content: 'Go on' }],
      }),
    );
    assert.deepEqual(back.messages[0]?.content, [part]);
    const textless = (plain(output) as JsonObject[]).map(({ content: _content, ...item }) => item);
    const signed = readRequest(requestFor({ input: textless })).messages[0]
      ?.content[0] as typeof part;
    assert.deepEqual(signed.signature, part.signature);
    if (vendor === 'anthropic') assert.equal(signed.text, part.text);
  }
});

test('`input += response.output` works on the straight path: other vendors’ reasoning is dropped and listed, OpenAI’s is unpacked', () => {
  const content: AssistantPart[] = [
    thinkingPart('a', { vendor: 'anthropic', value: 'A' }),
    thinkingPart('', { vendor: 'openai', value: 'B' }),
    callPart('toolu_1'),
  ];
  const { output } = writeAnswer(answerOf(content), contextFor());
  const result = { type: 'function_call_output', call_id: 'toolu_1', output: 'r' };
  const input = [...(plain(output) as JsonObject[]), result];
  const { body, ignored } = relayRequest(requestFor({ input }), target);
  assert.deepEqual(ignored, ['input[0]']);
  assert.deepEqual(body.input, [
    { type: 'reasoning', summary: [], encrypted_content: 'B' },
    { type: 'function_call', call_id: 'toolu_1', name: 'f', arguments: '{}', status: 'completed' },
    result,
  ]);
});

test('a body that is no answer, or one that failed or has not ended, is unreadable', () => {
  for (const body of [
    null,
    'text',
    {},
    { output: {} },
    { status: 'failed', output: [], error: { code: 'server_error', message: 'x' } },
    { status: 'in_progress', output: [] },
    { error: { message: 'x' } },
  ]) {
    assert.throws(() => readAnswer(body), UnreadableAnswer);
  }
});

test('the response has every field of the Open Responses schema', () => {
  const body = writeAnswer(answerOf([]), contextFor());
  for (const field of openResponsesFields) assert.notEqual(body[field], undefined, field);
});

const openResponsesFields = (
  'id object created_at completed_at status incomplete_details model previous_response_id instructions output error tools ' +
  'tool_choice truncation parallel_tool_calls text top_p presence_penalty frequency_penalty top_logprobs temperature reasoning usage ' +
  'max_output_tokens max_tool_calls store background service_tier metadata safety_identifier prompt_cache_key'
).split(' ');

function readUsageOf(usage: unknown): unknown {
  return readAnswer({ output: [], status: 'completed', usage }).usage;
}

function typesOf(frames: string): unknown[] {
  return payloadsOf(frames).map(({ type }) => type);
}

function textOf(content: readonly AssistantPart[]): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

test('a citation of a whole text gets its span at the end, and one of a document is left out', () => {
  const page = pageCitation({ citedText: 'x', reference: 'E' });
  const place = { unit: 'char', start: 0, end: 3 } as const;
  const document = {
    type: 'document',
    documentIndex: 0,
    title: null,
    citedText: 'x',
    place,
  } as const;
  const frames = runPipe(writeStream(contextFor()), [
    { type: 'start', usage: null },
    { type: 'text-start' },
    { type: 'citation', citation: page },
    { type: 'citation', citation: document },
    { type: 'text-delta', text: 'Hello' },
    { type: 'text-end' },
    { type: 'finish', stop: { reason: 'end', sequence: null }, usage: null },
  ]);
  const payloads = payloadsOf(frames);
  const added = payloads.filter(
    (payload) => payload.type === 'response.output_text.annotation.added',
  );
  const annotation = {
    type: 'url_citation',
    url: 'https://a.example',
    title: '',
    start_index: 0,
    end_index: 5,
  };
  assert.deepEqual(
    added.map((payload) => [payload.annotation_index, payload.annotation]),
    [[0, annotation]],
  );
  const part = payloads.find((payload) => payload.type === 'response.content_part.done')!
    .part as JsonObject;
  assert.deepEqual(part.annotations, [annotation]);
});
