// The checks of the Open Responses compliance suite (github.com/openresponses/openresponses, as of
// 2026-11-21), and stricter ones: on the sandbox, and with a live key on providers of each format.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { z } from 'zod';
import { chainedModels, startChainedGateway } from '../support/chained-gateway.ts';
import { eventSchema, responseSchema } from '../support/open-responses-schema.ts';

const chain = await startChainedGateway();
after(() => chain.stop());

const user = (content: unknown) => ({ type: 'message', role: 'user', content });
const weatherTool = {
  type: 'function',
  name: 'get_weather',
  description: 'The weather of a place',
  parameters: {
    type: 'object',
    properties: { location: { type: 'string' } },
    required: ['location'],
  },
};
const redPixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

type Case = {
  readonly body: object;
  readonly outputTypes: readonly string[];
  /** What the answer must repeat of the request. */
  readonly text?: RegExp;
};

/** The sandbox behind each model follows a directive in the prompt and records its last request. */
const cases: Readonly<Record<string, Case>> = {
  'a text': {
    body: { input: [user('Say hello in three words.')] },
    outputTypes: ['message'],
    text: /Say hello/,
  },
  'a string as the input': {
    body: { input: 'Count to five.' },
    outputTypes: ['message'],
    text: /Count to five/,
  },
  'a system message': {
    body: {
      input: [
        { type: 'message', role: 'system', content: 'You are a pirate.' },
        user('Say hello.'),
      ],
    },
    outputTypes: ['message'],
    text: /Say hello/,
  },
  'a tool call': {
    body: {
      input: [user('Weather?\nsandbox: tool=get_weather {"location":"Oslo"}')],
      tools: [weatherTool],
    },
    outputTypes: ['function_call'],
  },
  'an image': {
    body: {
      input: [
        user([
          { type: 'input_text', text: 'What is this?' },
          { type: 'input_image', image_url: redPixel },
        ]),
      ],
    },
    outputTypes: ['message'],
    text: /What is this/,
  },
  'several turns': {
    body: {
      input: [
        user('My name is Ann.'),
        { type: 'message', role: 'assistant', content: 'Hello Ann!' },
        user('What is my name?'),
      ],
    },
    outputTypes: ['message'],
    text: /What is my name/,
  },
  reasoning: {
    body: {
      input: [user('Hello.\nsandbox: think=The user greets me.')],
      reasoning: { effort: 'low' },
    },
    outputTypes: ['reasoning', 'message'],
    text: /Hello/,
  },
};

for (const model of ['gpt-6-luna', ...chainedModels]) {
  for (const [name, { body, outputTypes, text }] of Object.entries(cases)) {
    test(`${model}: ${name}, whole and streamed`, async () => {
      const whole = readResponse((await ask(model, body)).json());
      const streamed = readStream((await ask(model, { ...body, stream: true })).frames);
      for (const response of [whole, streamed]) {
        assert.equal(response.status, 'completed');
        assert.deepEqual(
          response.output.map(({ type }) => type),
          outputTypes,
        );
        if (text) assert.match(textOf(response), text);
        const { input_tokens: input, output_tokens: output, total_tokens: total } = response.usage!;
        assert.ok(input > 0 && output > 0 && total === input + output);
      }
      assert.equal(textOf(streamed), textOf(whole));
    });
  }

  test(`${model}: an answer that reaches its limit is incomplete, whole and streamed`, async () => {
    const body = { input: 'sandbox: tokens=200', max_output_tokens: 20 };
    const streamed = readStream(
      (await ask(model, { ...body, stream: true })).frames,
      'response.incomplete',
    );
    for (const response of [readResponse((await ask(model, body)).json()), streamed]) {
      assert.equal(response.status, 'incomplete');
      assert.deepEqual(response.incomplete_details, { reason: 'max_output_tokens' });
    }
  });
}

type Item = { type: string; id: string; content?: { text: string }[]; arguments?: string };
type Response = {
  status: string;
  output: Item[];
  usage: { input_tokens: number; output_tokens: number; total_tokens: number } | null;
  incomplete_details: unknown;
};
type Event = Record<string, unknown> & { type: string; sequence_number: number };

async function ask(model: string, body: object) {
  const key = model.startsWith('on-') ? chain.key : chain.gateway.program.firstTestKey;
  const reply = await chain.gateway.post('/v1/responses', { key, body: { model, ...body } });
  assert.equal(reply.status, 200, reply.text);
  return reply;
}

function readResponse(body: unknown): Response {
  check(responseSchema, body);
  return body as Response;
}

function check(schema: z.ZodType, value: unknown): void {
  const { error } = schema.safeParse(value);
  if (error) assert.fail(`${z.prettifyError(error)}\n${JSON.stringify(value)}`);
}

/**
 * Returns the last event's response after checking each event: its fields, its number, and its
 * item.
 */
function readStream(
  frames: readonly { event: string | null; data: unknown; comment: string | null }[],
  end = 'response.completed',
): Response {
  const events = frames
    .filter(({ comment }) => comment === null)
    .map(({ event, data }) => readEvent(event, data));
  assert.deepEqual(
    events.map((event) => event.sequence_number),
    events.map((_, index) => index),
  );
  assert.deepEqual(
    [events[0]!.type, events[1]!.type, events.at(-1)!.type],
    ['response.created', 'response.in_progress', end],
  );
  const response = events.at(-1)!.response as Response;
  for (const [index, item] of response.output.entries()) checkItem(events, index, item);
  return response;
}

function readEvent(name: string | null, data: unknown): Event {
  check(eventSchema, data);
  assert.equal(name, (data as Event).type);
  return data as Event;
}

/** An item is added, filled piece by piece, and finished as in the last event. */
function checkItem(events: readonly Event[], index: number, item: Item): void {
  const own = events.filter((event) => event.output_index === index);
  assert.equal(own[0]!.type, 'response.output_item.added');
  assert.equal(own.at(-1)!.type, 'response.output_item.done');
  assert.deepEqual(own.at(-1)!.item, item);
  for (const event of own.slice(1, -1)) assert.equal(event.item_id, item.id);
  const deltas = own
    .filter((event) => event.type.endsWith('.delta'))
    .map(({ delta }) => String(delta));
  const text = item.arguments ?? (item.content ?? []).map((part) => part.text).join('');
  if (item.type !== 'reasoning') assert.equal(deltas.join(''), text);
}

function textOf({ output }: Response): string {
  return output
    .flatMap(({ type, content }) => (type === 'message' ? (content ?? []) : []))
    .map((part) => part.text)
    .join('');
}
