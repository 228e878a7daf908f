// Images in answers, Gemini's and those of Chat and Responses hosts: they reach Chat and Responses
// clients, and a Messages client is told. Our own count takes them as images, not as text.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OutputMeter } from '../src/canonical/output-bytes.ts';
import type { ClientFormatName, UpstreamFormatName } from '../src/terms/format-name.ts';
import { clientFormats, upstreamFormats } from '../src/formats/registry.ts';
import { parseSse } from './support/formats/sse.ts';
import { answerContext, openPipe, playStream, writeWhole } from './support/pipes.ts';
import type { Json } from './support/plain/reading.ts';

const data = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ'.repeat(1_000);
const url = `data:image/png;base64,${data}`;
const images = [{ type: 'image_url', image_url: { url } }];

const answers = {
  gemini: {
    whole: {
      candidates: [
        {
          content: {
            role: 'model',
            parts: [
              { thought: true, inlineData: { mimeType: 'image/png', data: 'ZHJhZnQ=' } },
              { text: 'Here' },
              { inlineData: { mimeType: 'image/png', data } },
            ],
          },
          finishReason: 'STOP',
        },
      ],
      usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1_295, totalTokenCount: 1_300 },
    },
    chunks: (whole: Json) => [whole],
  },
  chat: {
    whole: {
      id: 'c',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Here', images },
          finish_reason: 'stop',
        },
      ],
      usage: { prompt_tokens: 5, completion_tokens: 1_295, total_tokens: 1_300 },
    },
    chunks: ({ usage }: Json) => [
      { choices: [{ index: 0, delta: { role: 'assistant', content: 'Here' } }] },
      { choices: [{ index: 0, delta: { images } }] },
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage },
    ],
  },
  responses: {
    whole: {
      id: 'resp_1',
      object: 'response',
      status: 'completed',
      output: [
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Here' }] },
        { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: data },
      ],
      usage: { input_tokens: 5, output_tokens: 1_295, total_tokens: 1_300 },
    },
    chunks: (response: Json) => [
      ...(response.output as Json[]).map((item, index) => ({
        type: 'response.output_item.done',
        output_index: index,
        item,
      })),
      { type: 'response.completed', response },
    ],
  },
} as const;
const upstreams = ['gemini', 'chat', 'responses'] as const;

function stream(upstream: (typeof upstreams)[number], client: ClientFormatName) {
  const { whole, chunks } = answers[upstream];
  const bytes = Buffer.from(
    chunks(whole)
      .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
      .join(''),
  );
  const played = playStream(openPipe(upstream, client, answerContext(client)), [bytes]);
  assert.equal(played.failure, null);
  const events = parseSse(played.text).filter((event) => event.data !== '[DONE]');
  return { pipe: played.pipe, events: events.map((event) => JSON.parse(event.data) as Json) };
}

for (const upstream of upstreams) {
  test(`an image of a ${upstream} host reaches a Chat client, whole and streamed`, () => {
    const body = writeWhole(upstream, 'chat', answers[upstream].whole, answerContext('chat'))!;
    const { message } = (body.choices as Json[])[0]!;
    assert.equal(message.content, 'Here');
    assert.equal(message.images[0].image_url.url, url);
    const { events } = stream(upstream, 'chat');
    const deltas = events.flatMap(({ choices }) => choices as Json[]).map(({ delta }) => delta);
    const sent = deltas.flatMap((delta) => (delta.images ?? []) as Json[]);
    assert.deepEqual(
      sent.map((image) => image.image_url.url),
      [url],
    );
  });

  test(`an image of a ${upstream} host reaches a Responses client, whole and streamed`, () => {
    const context = answerContext('responses');
    const body = writeWhole(upstream, 'responses', answers[upstream].whole, context)!;
    const last = stream(upstream, 'responses').events.at(-1)!;
    for (const output of [body.output, last.response.output] as Json[][]) {
      assert.deepEqual(
        output.map(({ type }) => type),
        ['message', 'image_generation_call'],
      );
      assert.deepEqual([output[1]!.status, output[1]!.result], ['completed', data]);
      const input = [{ role: 'user', content: 'x' }, ...output, { role: 'user', content: 'y' }];
      // OpenAI takes its own images back.
      assertReturns(input, upstream === 'responses' ? [] : ['input[2]']);
    }
  });

  test(`a Messages client gets a note when a ${upstream} host answers with an image, whole and streamed`, () => {
    const context = answerContext('messages');
    const body = writeWhole(upstream, 'messages', answers[upstream].whole, context)!;
    const [, note] = body.content as Json[];
    assert.match(note!.text, /made an image/);
    const text = JSON.stringify(stream(upstream, 'messages').events);
    assert.match(text, /made an image/);
    assert.ok(!text.includes(data));
  });

  for (const client of ['chat', 'responses', 'messages'] as const) {
    test(`our own count of a ${upstream} image for a ${client} client is that of an image`, () => {
      const meter = new OutputMeter();
      meter.addText('Here');
      meter.addImages(1);
      assert.ok(meter.bytes < data.length / 2);
      assert.equal(stream(upstream, client).pipe.progress.output.bytes, meter.bytes);
    });
  }
}

test('an image at an address comes back from a Gemini client', () => {
  const { message, ...choice } = answers.chat.whole.choices[0];
  const inLink = [{ type: 'image_url', image_url: { url: 'https://h.test/a.png' } }];
  const linked = {
    ...answers.chat.whole,
    choices: [{ ...choice, message: { ...message, images: inLink } }],
  };
  const body = writeWhole('chat', 'gemini', linked, answerContext('gemini'))!;
  const contents = [(body.candidates as Json[])[0]!.content, { parts: [{ text: 'y' }] }];
  const { gemini } = clientFormats;
  const request = gemini.parseRequest({ model: 'm', contents }, { chatMaxTokens: null });
  const [answer] = gemini.readRequest(request).messages;
  assert.match(JSON.stringify(answer), /Here.*An image that was made here/);
});

/** `input += response.output` works, on every upstream format. */
function assertReturns(input: readonly Json[], ignored: readonly string[]): void {
  const format = clientFormats.responses;
  const request = format.parseRequest({ model: 'm', input }, { chatMaxTokens: null });
  const target = { model: 'm', stream: false, maxOutputTokens: 99, thinking: true, isOpenAi: true };
  assert.deepEqual(format.relay.writeRequest(request, target).ignored, ignored);
  assert.deepEqual(format.ignoredFields!(request), ['input[2]']);
  for (const name of ['chat', 'messages', 'gemini'] satisfies UpstreamFormatName[])
    upstreamFormats[name].writeRequest(format.readRequest(request), target);
}
