// Images as a tool of Responses: the model calls a function, the gateway draws with a model of the
// image catalogue, and one charge covers the turns and the images.
import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import OpenAI from 'openai';
import { columnOf } from '../support/column-of.ts';
import {
  answerTurn,
  callTurn,
  responseOf as lastResponseOf,
  searchMicros,
  startHostedGateway,
  turnMicros,
} from '../support/hosted-gateway.ts';
import type { Reply } from '../support/http.ts';
import { png } from '../support/images/local-image-provider.ts';
import { imagePaths, inputs, openaiDraws, openaiModerates } from '../support/image-upstreams.ts';
import type { Json } from '../support/plain/reading.ts';
import { ResponsesSocket } from '../support/responses-socket.ts';
import { checkStream } from '../support/stream-rules.ts';
import { flushEventLoop } from '../support/test-clock.ts';
import type { Turn } from '../support/turn-format.ts';
import { chatTurns } from '../support/turns-chat.ts';
import { until } from '../support/until.ts';
import {
  answerJson,
  answerSse,
  answerStatus,
  framesText,
  holdBack,
  thenReset,
  type Script,
} from '../support/upstream.ts';

/** `gpt-image-flare` at its default size and quality, by the table. */
const imageMicros = 13_000;
const wires = ['on-chat', 'on-messages', 'on-responses'] as const;

const { gateway, key, account, play, recordOf, heldMicros, holdOf, firstRecord } =
  await startHostedGateway();
after(() => gateway.stop());
beforeEach(() => {
  gateway.upstream.on(imagePaths.generations, openaiDraws());
  gateway.upstream.on(imagePaths.edits, openaiDraws());
  gateway.upstream.on('/brave/web/search', answerJson({ web: { results: [] } }));
});

/** With its one input image. */
const editMicros = imageMicros + 10_000;
const editTurn = (...calls: object[]): Turn => ({
  ...drawTurn(),
  calls: calls.map((call, index) => ({
    id: `call_${index}`,
    name: 'generate_image',
    arguments: { prompt: 'bluer', ...call },
  })),
});
const drawTurn = (...prompts: string[]): Turn => callTurn('generate_image', 'prompt', ...prompts);

const tool = { type: 'image_generation' };
const ask = (fields: object, own = key) =>
  gateway.postRecorded('/v1/responses', {
    key: own,
    body: { model: 'on-chat', input: 'Draw a fox.', tools: [tool], ...fields },
  });

/** Returns the response of a whole answer, or what OpenAI's SDK makes of a stream. */
async function responseOf(reply: Reply, stream: boolean): Promise<Json> {
  assert.equal(reply.status, 200, reply.text);
  if (!stream) return reply.json<Json>();
  assert.equal(checkStream('responses', reply.text).ending, 'success');
  const headers = { 'content-type': 'text/event-stream' };
  const fetch = async () => new Response(reply.text, { headers });
  const sdk = new OpenAI({ apiKey: 'none', maxRetries: 0, fetch });
  return sdk.responses.stream({ model: 'm', input: 'x' }).finalResponse();
}
const kindsOf = ({ output }: Json) => (output as Json[]).map(({ type }) => type);
const imagesIn = ({ output }: Json) =>
  (output as Json[]).filter(({ type }) => type === 'image_generation_call');
const drawings = <Call extends { readonly path: string }>(asked: readonly Call[]) =>
  asked.filter(({ path }) => path === imagePaths.generations);

for (const wire of wires)
  for (const stream of [false, true])
    test(`a model ${wire} draws through the gateway, ${stream ? 'streamed' : 'whole'}`, async () => {
      play(wire, drawTurn('a red fox'), answerTurn);
      const options = { ...tool, size: '1536x1024', quality: 'medium', partial_images: 2 };
      const { reply, asked } = await ask({ model: wire, stream, tools: [options] });
      const response = await responseOf(reply, stream);
      assert.deepEqual(kindsOf(response), ['message', 'image_generation_call', 'message']);
      const { id, ...image } = imagesIn(response)[0]!;
      assert.match(id, /^ig_/);
      assert.deepEqual(image, {
        type: 'image_generation_call',
        status: 'completed',
        result: png.toString('base64'),
        revised_prompt: 'a red fox',
        action: 'generate',
        background: 'opaque',
        output_format: 'png',
        size: '1536x1024',
        quality: 'medium',
      });
      const drawn = drawings(asked)[0]!.body as Json;
      assert.deepEqual([drawn['prompt'], drawn['size']], ['a red fox', '1536x1024']);
      // Only a stream shows them.
      const ignored = stream ? undefined : 'tools[0].partial_images';
      assert.equal(reply.headers['x-service-ignored'], ignored);
      // Two megapixels.
      const cost = 2 * turnMicros + 2 * imageMicros;
      assert.deepEqual([reply.costMicros, response['usage'].cost], [cost, cost / 1e6]);
      const record = (await recordOf(reply))!;
      assert.deepEqual([record['images'], record['output_tokens']], [1, 20]);
      assert.equal(await heldMicros(), 0);
    });

test('a stream tells that an image is drawn, in OpenAI’s order', async () => {
  play('on-chat', drawTurn('a'), answerTurn);
  const { reply } = await ask({ stream: true });
  const events = reply.frames.map(({ data }) => data as Json);
  assert.deepEqual(
    events.filter(({ output_index: index }) => index === 1).map(({ type }) => type),
    [
      'response.output_item.added',
      'response.image_generation_call.in_progress',
      'response.image_generation_call.generating',
      'response.image_generation_call.completed',
      'response.output_item.done',
    ],
  );
});

for (const wire of wires)
  test(`an image that comes back is its prompt to a model ${wire}, and costs no image’s input`, async () => {
    play(wire, drawTurn('a red fox'), answerTurn);
    const first = await ask({ model: wire });
    const output = (first.reply.json<Json>()['output'] as Json[]).map((item) => ({
      ...item,
      // As long as real ones.
      ...(item['result'] && { result: item['result'].repeat(5_000) }),
    }));
    play(wire, answerTurn);
    const said = (content: string) => ({ role: 'user', content });
    const input = [said('Draw.'), ...output, said('Bluer')];
    const { reply, asked } = await ask({ model: wire, input });
    assert.equal(reply.status, 200, reply.text);
    assert.match(asked[0]!.text, /I drew an image of this: a red fox/);
    assert.ok(asked[0]!.text.length < 10_000);
    assert.equal(reply.headers['x-service-ignored'], undefined);
  });

test('an image that failed can come back, as all of an answer can', async () => {
  gateway.upstream.on(imagePaths.generations, answerStatus(503));
  play('on-chat', drawTurn('a'), answerTurn);
  const output = (await ask({})).reply.json<Json>()['output'] as Json[];
  assert.deepEqual(columnOf(output as { status: unknown }[], 'status'), [
    'completed',
    'failed',
    'completed',
  ]);
  for (const model of wires) {
    play(model, answerTurn);
    const input = ['Draw.', 'Again?'].map((content) => ({ role: 'user', content }));
    const { reply } = await ask({ model, input: [input[0], ...output, input[1]] });
    assert.equal(reply.status, 200, reply.text);
  }
});

for (const stream of [false, true]) {
  const kind = stream ? 'streamed' : 'whole';

  test(`the provider’s count of an image is charged, ${kind}`, async () => {
    const usage = { input_tokens: 40, output_tokens: 600, total_tokens: 640 };
    gateway.upstream.on(imagePaths.generations, openaiDraws(1, usage));
    play('on-chat', drawTurn('a', 'b'), answerTurn);
    const { reply } = await ask({ stream });
    assert.equal(imagesIn(await responseOf(reply, stream)).length, 2);
    assert.equal(reply.costMicros, 2 * turnMicros + 2 * (40 * 5 + 600 * 30));
    assert.equal((await recordOf(reply))!['images'], 2);
  });

  test(`an image that fails is free, and told to the model, ${kind}`, async () => {
    gateway.upstream.on(imagePaths.generations, openaiModerates, answerStatus(503));
    play('on-chat', drawTurn('x', 'y', ''), answerTurn);
    const { reply, asked } = await ask({ stream });
    const images = imagesIn(await responseOf(reply, stream));
    assert.deepEqual(
      images.map(({ status, result }) => [status, result]),
      Array.from({ length: 3 }, () => ['failed', null]),
    );
    const results = chatTurns.readResults(asked.at(-1)!.body as Json);
    const told = /refused because of its prompt.*\n.*failed.*\n.*needs a prompt/;
    assert.match(results.join('\n'), told);
    assert.equal(reply.costMicros, 2 * turnMicros);
    const ofRequest = (line: string) =>
      line.includes(reply.requestId) && line.includes('"msg":"request"');
    await until(() => gateway.program.output.split('\n').some(ofRequest));
    const line = JSON.parse(gateway.program.output.split('\n').find(ofRequest)!) as Json;
    // Drawing is no attempt of the model's.
    assert.deepEqual([line['attempts'], line['upstream_status']], [1, undefined]);
    assert.deepEqual([(await recordOf(reply))!['images'] ?? 0, await heldMicros()], [0, 0]);
  });

  test(`max_tool_calls limits the images, else there are three, ${kind}`, async () => {
    for (const [fields, most] of [
      [{ max_tool_calls: 1 }, 1],
      [{}, 3],
    ] as const) {
      play('on-chat', drawTurn('a', 'b'));
      const { reply, asked } = await ask({ stream, ...fields });
      const response = await responseOf(reply, stream);
      assert.deepEqual([drawings(asked).length, response['status']], [most, 'completed']);
      assert.equal(reply.costMicros, (most + 1) * turnMicros + most * imageMicros);
    }
  });

  test(`when the call after an image fails, the answer ends with the image, which is charged, ${kind}`, async () => {
    play('on-chat', drawTurn('a'), answerStatus(500));
    const cached = { stream, temperature: 0 };
    const { reply } = await ask(cached);
    const response = lastResponseOf(reply, stream);
    assert.deepEqual(kindsOf(response), ['message', 'image_generation_call']);
    const cost = turnMicros + imageMicros;
    assert.deepEqual([response['status'], reply.costMicros], ['incomplete', cost]);
    assert.deepEqual([await gateway.lossesOf(reply.requestId), await heldMicros()], [[], 0]);
    // It is no answer for others.
    play('on-chat', answerTurn);
    assert.equal((await ask(cached)).reply.costMicros, turnMicros);
    assert.equal((await ask(cached)).reply.headers['x-service-cache'], 'hit');
  });

  test(`a client that leaves while an image is drawn pays for it, ${kind}`, async () => {
    const drawing = holdBack(openaiDraws());
    gateway.upstream.on(imagePaths.generations, drawing.script);
    play('on-chat', drawTurn('a', 'b'));
    const own = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
    const earlier = gateway.upstream.requests.length;
    const body = { model: 'on-chat', input: 'x', tools: [tool], stream };
    const { request, response } = gateway.open('/v1/responses', { key: own.key, body });
    response.catch(() => {});
    await gateway.upstream.request(earlier + 1);
    request.destroy();
    for (let turns = 0; turns < 20; turns++) await flushEventLoop();
    drawing.release();
    const record = await firstRecord(own.key);
    assert.equal(gateway.upstream.requests.length, earlier + 2, 'one turn, one image');
    assert.deepEqual([record['images'], record['output_tokens']], [1, 10]);
    const { postedMicros, heldMicros: held } = await gateway.balance(own.account);
    assert.deepEqual([postedMicros, held], [5_000_000 - turnMicros - imageMicros, 0]);
  });
}

test('a stream that breaks behind an image ends with what came, which is charged', async () => {
  const first = chatTurns.frames(answerTurn).slice(0, 2);
  const error = { data: { error: { message: 'overloaded', code: 503 } } };
  for (const broken of [thenReset(framesText(first)), answerSse([...first, error])]) {
    play('on-chat', drawTurn('a'), broken);
    const { reply } = await ask({ stream: true });
    const response = lastResponseOf(reply, true);
    assert.deepEqual(kindsOf(response), ['message', 'image_generation_call', 'message']);
    assert.equal(response['status'], 'incomplete');
    assert.ok(reply.costMicros! > turnMicros + imageMicros);
    assert.deepEqual([await gateway.lossesOf(reply.requestId), await heldMicros()], [[], 0]);
  }
});

test('searches and images of one answer are charged together', async () => {
  const calls = [
    { id: 'c1', name: 'web_search', arguments: { query: 'q' } },
    { id: 'c2', name: 'generate_image', arguments: { prompt: 'p' } },
  ];
  for (const wire of ['on-chat', 'on-responses'] as const) {
    play(wire, { ...drawTurn(), calls }, answerTurn);
    const { reply } = await ask({ model: wire, tools: [{ type: 'web_search' }, tool] });
    const kinds = ['message', 'web_search_call', 'image_generation_call', 'message'];
    assert.deepEqual(kindsOf(reply.json<Json>()), kinds);
    assert.equal(reply.costMicros, 2 * turnMicros + searchMicros + imageMicros);
  }
});

test('OpenAI’s own search stays where nothing can draw, and the image tool is refused there', async () => {
  const searching = await gateway.makeKey({ mode: 'live', account, models: ['on-responses'] });
  play('on-responses', answerTurn);
  const search = { type: 'web_search' };
  const alone = await ask({ model: 'on-responses', tools: [search] }, searching.key);
  assert.deepEqual((alone.asked[0]!.body as Json)['tools'], [search]);
  const both = { model: 'on-responses', tools: [search, tool] };
  const { reply, asked } = await ask(both, searching.key);
  assert.deepEqual([reply.status, reply.error.param, asked.length], [400, 'tools[1].type', 0]);
});

test('a choice of the tool is one of the function, made once', async () => {
  for (const [choice, sent] of [
    [tool, { type: 'function', function: { name: 'generate_image' } }],
    [{ type: 'allowed_tools', mode: 'required', tools: [tool] }, 'required'],
  ] as const) {
    play('on-chat', drawTurn('a'), answerTurn);
    const { asked } = await ask({ tool_choice: choice });
    const choices = asked.flatMap(({ body }) => (body as Json)['tool_choice'] ?? []);
    assert.deepEqual(choices, [sent, 'auto']);
  }
});

const refused: [fields: object, param: string][] = [
  [{ model: 'gpt-image-0' }, 'tools[0].model'],
  [{ model: 'flux-2-edit' }, 'tools[0].model'],
  [{ model: 5 }, 'tools[0].model'],
  [{ size: '1x1' }, 'tools[0].size'],
  [{ size: 5 }, 'tools[0].size'],
  [{ quality: 'best' }, 'tools[0].quality'],
  [{ output_format: 'bmp' }, 'tools[0].output_format'],
  [{ background: 'transparent' }, 'tools[0].background'],
  [{ action: 'edit' }, 'tools[0].action'],
  [{ action: 'erase' }, 'tools[0].action'],
  [{ partial_images: 4 }, 'tools[0].partial_images'],
  [{ input_image_mask: { image_url: 'data:,' } }, 'tools[0].input_image_mask'],
];
for (const [fields, param] of refused)
  test(`refused: ${JSON.stringify(fields)}`, async () => {
    const { reply, asked } = await ask({ tools: [{ ...tool, ...fields }] });
    assert.deepEqual([reply.status, reply.error.param, asked.length], [400, param, 0], reply.text);
    assert.ok(reply.error.message.startsWith('tools[0]'), reply.text);
    assert.equal(await heldMicros(), 0);
  });

const [photo, sketch] = inputs as [string, string];
const drawnBefore = {
  type: 'image_generation_call',
  id: `ig_${'0'.repeat(26)}_1`,
  status: 'completed',
  result: png.toString('base64'),
  revised_prompt: 'a red fox',
};
/** A conversation with two images, the second of them drawn. */
const withImages = [
  { role: 'user', content: [{ type: 'input_image', image_url: sketch }] },
  drawnBefore,
  { role: 'user', content: 'Make it bluer.' },
];
/** The files of each edit that was asked for. */
const filesOf = (asked: readonly { readonly path: string; readonly text: string }[]) =>
  asked
    .filter(({ path }) => path === imagePaths.edits)
    .map(({ text }) => text.match(/(?<=filename=")[^"]+/g));

for (const wire of wires)
  for (const stream of [false, true])
    test(`a model ${wire} changes images of the conversation, ${stream ? 'streamed' : 'whole'}`, async () => {
      play(
        wire,
        editTurn({ images: [2] }, { images: [1, 2] }, {}),
        editTurn({ images: [4] }),
        answerTurn,
      );
      const options = {
        ...tool,
        model: 'gpt-image-sunburst',
        input_image_mask: { image_url: photo },
      };
      const fields = {
        model: wire,
        stream,
        input: withImages,
        tools: [options],
        max_tool_calls: 4,
      };
      const { reply, asked } = await ask(fields);
      const response = await responseOf(reply, stream);
      assert.deepEqual(
        imagesIn(response).map(({ action, status }) => [action, status]),
        [
          ['edit', 'completed'],
          ['edit', 'completed'],
          ['generate', 'completed'],
          ['edit', 'completed'],
        ],
      );
      assert.deepEqual(filesOf(asked), [
        ['image-1.png', 'mask.png'],
        ['image-1.gif', 'image-2.png', 'mask.png'],
        ['image-1.png', 'mask.png'],
      ]);
      // A mask is one more image.
      const cost = 3 * turnMicros + imageMicros + 3 * editMicros + 4 * 10_000;
      assert.equal(reply.costMicros, cost);
      assert.deepEqual([(await recordOf(reply))!['images'], await heldMicros()], [4, 0]);
    });

test('`action` says whether the model may choose; `edit` without numbers takes the last image', async () => {
  const propertiesFor = async (fields: object, ...turns: Turn[]) => {
    play('on-chat', ...turns, answerTurn);
    const { reply, asked } = await ask({ input: withImages, tools: [{ ...tool, ...fields }] });
    assert.equal(reply.status, 200, reply.text);
    const { parameters } = (asked[0]!.body as Json)['tools'][0].function;
    return {
      files: filesOf(asked),
      known: Object.keys(parameters.properties),
      required: parameters.required,
    };
  };
  const edit = await propertiesFor({ action: 'edit' }, editTurn({}));
  assert.deepEqual(edit, {
    files: [['image-1.png']],
    known: ['prompt', 'images'],
    required: ['prompt', 'images'],
  });
  assert.deepEqual((await propertiesFor({ action: 'auto' })).required, ['prompt']);
  assert.deepEqual((await propertiesFor({ action: 'generate' })).known, ['prompt']);
  assert.deepEqual((await propertiesFor({ model: 'gpt-image-flare-edit' })).required, [
    'prompt',
    'images',
  ]);
});

test('an image that cannot be changed is free, and told to the model', async () => {
  gateway.upstream.on(imagePaths.edits, openaiModerates);
  const broken = {
    role: 'user',
    content: [{ type: 'input_image', image_url: 'data:image/png;base64,AAAA' }],
  };
  play(
    'on-chat',
    editTurn(
      ...[[9], [0], [-1], [1.5], [1, 2], ['one'], '[1, 2]', {}, [3]].map((images) => ({ images })),
      { images: 2 },
    ),
    answerTurn,
  );
  const { reply, asked } = await ask({ input: [...withImages, broken] });
  const results = chatTurns.readResults(asked.at(-1)!.body as Json);
  assert.deepEqual(
    results.map((text) => /too many|refused/.exec(text)?.[0]),
    [...Array.from({ length: 9 }, () => 'too many'), 'refused'],
  );
  assert.deepEqual([reply.costMicros, await heldMicros()], [2 * turnMicros, 0]);
});

test('a stream shows images while they are drawn, and their tokens are held and charged', async () => {
  const usage = { input_tokens: 0, output_tokens: 10_000 };
  const partialOf = ({ frames }: Reply) =>
    frames
      .map(({ data }) => data as Json)
      .filter(({ type }) => type === 'response.image_generation_call.partial_image');
  const ends: (readonly [held: number, cost: number])[] = [];
  for (const partial of [0, 3]) {
    for (const path of [imagePaths.generations, imagePaths.edits])
      gateway.upstream.on(path, openaiDraws(1, usage));
    play('on-chat', editTurn({}, { images: [2] }), answerTurn);
    const tools = [{ ...tool, partial_images: partial }];
    const { reply } = await ask({ stream: true, input: withImages, tools });
    const shown = partialOf(reply);
    assert.deepEqual(
      shown.map((event) => event['partial_image_index']),
      partial === 0 ? [] : [0, 1, 2, 0, 1, 2],
    );
    assert.ok(shown.every((event) => event['partial_image_b64'] === png.toString('base64')));
    assert.equal(imagesIn(await responseOf(reply, true)).length, 2);
    ends.push([await holdOf(reply), reply.costMicros!]);
  }
  const [[heldWithout, costWithout] = [], [heldWith, costWith] = []] = ends;
  // Three of 100 tokens at $30 a million, for three images of which two are drawn.
  assert.deepEqual([heldWith! - heldWithout!, costWith! - costWithout!], [27_000, 18_000]);
});

test('a stream of an image that breaks off is no image, and free', async () => {
  const broken: Script = (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const data = { type: 'image_generation.partial_image', b64_json: 'AAAA' };
    // More than were asked for.
    response.write(framesText([{ data }, { data }]), () => response.destroy());
  };
  gateway.upstream.on(imagePaths.generations, broken);
  play('on-chat', drawTurn('a'), answerTurn);
  const { reply } = await ask({ stream: true, tools: [{ ...tool, partial_images: 1 }] });
  assert.equal(reply.text.match(/^event: .*partial_image$/gm)?.length, 1);
  const [image] = imagesIn(await responseOf(reply, true));
  assert.deepEqual([image!['status'], reply.costMicros], ['failed', 2 * turnMicros]);
  assert.deepEqual(
    [await gateway.lossesOf(reply.requestId), await heldMicros()],
    [[imageMicros], 0],
  );
});

test('an image that has come is not lost by what follows it', async () => {
  const completed = { type: 'image_generation.completed', b64_json: png.toString('base64') };
  gateway.upstream.on(imagePaths.generations, answerSse([{ data: completed }, 'data: <html>\n\n']));
  play('on-chat', drawTurn('a'), answerTurn);
  const { reply } = await ask({ stream: true, tools: [{ ...tool, partial_images: 1 }] });
  const [image] = imagesIn(await responseOf(reply, true));
  assert.deepEqual(
    [image!['status'], reply.costMicros],
    ['completed', 2 * turnMicros + imageMicros],
  );
});

test('an image that is refused while it is drawn is no loss, and told to the model', async () => {
  const error = { type: 'image_generation_user_error', code: 'moderation_blocked', message: 'No.' };
  const data = { type: 'error', error };
  gateway.upstream.on(imagePaths.generations, answerSse([{ event: 'error', data }]));
  play('on-chat', drawTurn('a'), answerTurn);
  const { reply, asked } = await ask({ stream: true, tools: [{ ...tool, partial_images: 1 }] });
  const results = chatTurns.readResults(asked.at(-1)!.body as Json).join();
  assert.match(results, /refused because of its prompt/);
  assert.equal(drawings(asked).length, 1);
  assert.deepEqual(
    [reply.costMicros, await gateway.lossesOf(reply.requestId)],
    [2 * turnMicros, []],
  );
});

test('an answer is cached only if its images and searches did not fail in passing', async () => {
  const search = callTurn('web_search', 'query', 'q');
  const tools = [{ type: 'web_search' }, tool];
  for (const [input, turn, path, status, cached] of [
    ['Unavailable image', drawTurn('a'), imagePaths.generations, 503, undefined],
    ['Refused image', drawTurn('a'), imagePaths.generations, 400, 'hit'],
    ['Unavailable search', search, '/brave/web/search', 500, undefined],
  ] as const) {
    gateway.upstream.on(path, answerStatus(status));
    const again: unknown[] = [];
    for (let asked = 0; asked < 2; asked++) {
      play('on-chat', turn, answerTurn);
      const { reply } = await ask({ input, tools, temperature: 0 });
      again.push(reply.status, reply.headers['x-service-cache']);
    }
    assert.deepEqual(again, [200, undefined, 200, cached], input);
  }
});

test('a hold covers the dearest edit that the provider may count', async () => {
  // As many tokens as an input image and a prompt can have, and twice the table’s output.
  const usage = {
    input_tokens: 20_000,
    input_tokens_details: { image_tokens: 10_000, text_tokens: 10_000 },
    output_tokens: 10_000,
  };
  gateway.upstream.on(imagePaths.edits, openaiDraws(1, usage));
  play('on-chat', editTurn({ images: [2] }), answerTurn);
  const { reply } = await ask({ input: withImages, max_tool_calls: 1 });
  play('on-chat', answerTurn);
  const tools = [{ ...tool, action: 'generate' }];
  const other = await ask({ input: withImages, max_tool_calls: 1, tools });
  const more = (await holdOf(reply)) - (await holdOf(other.reply));
  // One image’s tokens, at $8 a million, and twice its price in the table.
  assert.ok(Math.abs(more - 7_079 * 8 - 2 * 10_000) < 500, String(more));
  const beyond = await gateway.lossesOf(reply.requestId);
  assert.ok(beyond.length === 1 && beyond[0]! > 0, JSON.stringify(beyond));
});

test('a mask is refused by a model that has none', async () => {
  const mask = { image_url: photo };
  for (const [fields, param] of [
    [{ input_image_mask: mask, action: 'generate' }, 'input_image_mask'],
    [{ input_image_mask: { file_id: 'f' } }, 'input_image_mask'],
    [{ input_image_mask: { image_url: '' } }, 'input_image_mask.image_url'],
  ] as const) {
    const { reply } = await ask({ input: withImages, tools: [{ ...tool, ...fields }] });
    assert.deepEqual([reply.status, reply.error.param], [400, `tools[0].${param}`], reply.text);
  }
});

test('a key that may not use the model for edits draws new images alone', async () => {
  play('on-chat', editTurn({ images: [1] }), answerTurn);
  const own = await gateway.makeKey({
    mode: 'live',
    account,
    models: ['on-chat', 'gpt-image-flare'],
  });
  const { asked } = await ask({ input: withImages }, own.key);
  assert.deepEqual([drawings(asked).length, filesOf(asked)], [1, []]);
});

test('a cached answer is for the same images alone', async () => {
  const askWith = async (result: string) => {
    play('on-chat', answerTurn);
    const input = [
      { ...drawnBefore, result },
      { role: 'user', content: 'Which cached image?' },
    ];
    return (await ask({ input, temperature: 0 })).reply.headers['x-service-cache'];
  };
  const bytes = drawnBefore.result;
  const other = sketch.slice(sketch.indexOf(',') + 1);
  assert.deepEqual(
    [await askWith(bytes), await askWith(other), await askWith(bytes)],
    [undefined, undefined, 'hit'],
  );
});

test('a key draws only with models of its list', async () => {
  play('on-chat', drawTurn('a'), answerTurn);
  const models = ['on-chat', 'gpt-image-sunburst'];
  const with2 = await gateway.makeKey({ mode: 'live', account, models });
  const named = (name: string) => ask({ tools: [{ ...tool, model: name }] }, with2.key);
  const denied = (await named('gpt-image-flare')).reply;
  assert.deepEqual([denied.status, denied.error.param], [403, 'tools[0].model'], denied.text);
  const { reply, asked } = await ask({}, with2.key);
  assert.equal(reply.status, 200, reply.text);
  assert.match(columnOf(drawings(asked), 'text').join(), /sunburst/);
  const without = await gateway.makeKey({ mode: 'live', account, models: ['on-chat'] });
  play('on-chat', answerTurn);
  const left = await ask({}, without.key);
  assert.deepEqual([left.reply.status, left.reply.headers['x-service-ignored']], [200, 'tools[0]']);
});

test('a key without the scope `images` draws nothing', async () => {
  play('on-chat', drawTurn('a'), answerTurn);
  const running = await gateway.makeKey({ mode: 'live', account, scopes: ['run'] });
  for (const fields of [{}, { tools: [{ ...tool, model: 'gpt-image-flare' }] }]) {
    const { reply, asked } = await ask(fields, running.key);
    assert.equal(reply.headers['x-service-ignored'], 'tools[0]', reply.text);
    assert.equal(drawings(asked).length, 0);
  }
});

test('a cached image goes only to keys that may draw it, and its absence to no key that may', async () => {
  const draws = { mode: 'live', account } as const;
  const keys = {
    running: await gateway.makeKey({ ...draws, scopes: ['run'] }),
    listed: await gateway.makeKey({ ...draws, models: ['on-chat'] }),
    any: await gateway.makeKey(draws),
    another: await gateway.makeKey(draws),
  };
  const drawn: Record<string, readonly [number, unknown]> = {};
  for (const [name, { key: own }] of Object.entries(keys)) {
    play('on-chat', name === 'any' ? drawTurn('a') : answerTurn, answerTurn);
    const { reply } = await ask({ input: 'Draw it once.', temperature: 0 }, own);
    drawn[name] = [imagesIn(reply.json<Json>()).length, reply.headers['x-service-cache']];
  }
  const [none, one] = [0, 1];
  assert.deepEqual(drawn, {
    running: [none, undefined],
    listed: [none, undefined],
    any: [one, undefined],
    another: [one, 'hit'],
  });
});

test('a function of the client’s with the same name is the client’s', async () => {
  play('on-chat', drawTurn('a'));
  const own = { type: 'function', name: 'generate_image', parameters: { type: 'object' } };
  const { reply, asked } = await ask({ tools: [own, tool] });
  assert.deepEqual(kindsOf(reply.json<Json>()), ['message', 'function_call']);
  assert.deepEqual([asked.length, reply.headers['x-service-ignored']], [1, 'tools[1]']);
});

test('a small balance allows one image, and a smaller one is told what the images cost', async () => {
  play('on-chat', drawTurn('a', 'b'), answerTurn);
  const fields = { max_output_tokens: 100 };
  const small = await gateway.makeKey({ mode: 'live', creditUsd: 0.12 });
  const { reply, asked } = await ask(fields, small.key);
  assert.deepEqual([reply.status, drawings(asked).length], [200, 1], reply.text);
  assert.equal(reply.costMicros, 2 * turnMicros + imageMicros);
  const tiny = await gateway.makeKey({ mode: 'live', creditUsd: 0.02 });
  const denied = await ask(fields, tiny.key);
  assert.deepEqual([denied.reply.status, denied.asked.length], [402, 0]);
  assert.match(denied.reply.error.message, /with one image/);
  const many = await ask({ ...fields, max_tool_calls: 99 }, tiny.key);
  assert.match(many.reply.error.message, /with 10 images; a lower `max_tool_calls` allows fewer/);
});

test('a repeat with the same Idempotency-Key draws and costs nothing', async () => {
  play('on-chat', drawTurn('a'), answerTurn);
  const headers = { 'idempotency-key': 'images-once' };
  const body = { model: 'on-chat', input: 'x', tools: [tool], stream: true };
  const first = await gateway.post('/v1/responses', { key, headers, body });
  const earlier = gateway.upstream.requests.length;
  const again = await gateway.post('/v1/responses', { key, headers, body });
  assert.deepEqual([again.costMicros ?? 0, gateway.upstream.requests.length], [0, earlier]);
  const outputOf = (reply: Reply): unknown => lastResponseOf(reply, true)['output'];
  assert.deepEqual(outputOf(again), outputOf(first));
});

test('an image larger than other events comes in streams, over WebSocket too', async () => {
  const large = Buffer.concat([png, Buffer.alloc(26 * 1024 * 1024)]).toString('base64');
  const data = { type: 'image_generation.completed', b64_json: large };
  gateway.upstream.on(imagePaths.generations, answerSse([{ data }]));
  play('on-chat', drawTurn('a'), answerTurn);
  const socket = await ResponsesSocket.open(gateway.url, { key });
  const { type, response } = await socket.create({
    model: 'on-chat',
    input: 'A large fox.',
    tools: [{ ...tool, partial_images: 1 }],
  });
  socket.raw.terminate();
  assert.deepEqual([type, response?.output[1]!['status']], ['response.completed', 'completed']);
  assert.equal(String(response!.output[1]!['result']).length, large.length);
});

test('a test key draws in the sandbox', async () => {
  const own = await gateway.makeKey();
  const input = 'Hi\nsandbox: tool=generate_image {"prompt":"cats"}';
  const tools = [{ ...tool, partial_images: 2 }];
  const { reply } = await ask({ model: 'gpt-6-luna', input, tools, stream: true }, own.key);
  assert.equal(reply.text.match(/^event: .*partial_image$/gm)?.length, 2);
  const [image] = imagesIn(await responseOf(reply, true));
  assert.equal(image!['status'], 'completed');
  assert.equal((await firstRecord(own.key))['images'], 1);
});
