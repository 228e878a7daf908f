// The specification's chapters on the service's purpose, state and endpoints.
import assert from 'node:assert/strict';

import { answerContent } from '../support/answers.ts';
import { signIn } from '../support/dashboard.ts';
import { type Endpoint, endpoints } from '../support/endpoints.ts';
import {
  answers,
  cachesForWeek,
  chat,
  countPath,
  imagesPath,
  isCount,
  isText,
  type Json,
  listOf,
  messages,
  replaysForDay,
  responses,
  searchPath,
  type Sections,
  type SpecService,
  type Proof,
  takes,
  takesMaxTokens,
  takesTemperature,
  weatherTool,
} from './spec-service.ts';

const pixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=';
const drawing: Pick<Endpoint, 'path' | 'body'> = {
  path: imagesPath,
  body: (fields) => ({ model: 'gpt-image-flare', prompt: 'a fox', size: '64x64', ...fields }),
};
const searching: Pick<Endpoint, 'path' | 'body'> = {
  path: searchPath,
  body: (fields) => ({ query: 'cats', ...fields }),
};
const charged = [...endpoints, drawing, searching];
const responsesTool = { type: 'function', ...weatherTool };
const messagesTool = {
  name: 'get_weather',
  description: 'The weather',
  input_schema: weatherTool.parameters,
};

/** Proves that the provider of the same format receives it. */
function reaches(at: Endpoint, fields: Json): Proof {
  return async (service) => {
    await service.accepts(at, fields);
    const { gateway } = service;
    gateway.upstream.on(
      at.upstreamPath,
      answerContent(at.name, { text: 'yes', tokens: { input: 5, output: 1 } }),
    );
    const next = gateway.upstream.requests.length;
    const key = await service.newKey({ mode: 'live', creditUsd: 5 });
    const reply = await service.post(at.path, at.body(fields), { key });
    assert.equal(reply.status, 200, reply.text);
    assert.partialDeepStrictEqual((await gateway.upstream.request(next)).body, fields);
  };
}

const streams =
  (at: Endpoint): Proof =>
  async (service) => {
    const typeOf = async (stream?: boolean) =>
      String((await service.post(at.path, at.body({ stream }))).headers['content-type']);
    assert.match(await typeOf(true), /^text\/event-stream/);
    for (const stream of [false, undefined])
      assert.match(await typeOf(stream), /^application\/json/);
  };

const needsKey =
  (at: Pick<Endpoint, 'path' | 'body'>): Proof =>
  async (service) =>
    answers(service.postAsStranger(at.path, at.body({})), 401);

const readNeedsKey =
  (path: string): Proof =>
  async (service) => {
    await answers(service.get(path), 401);
    await answers(service.get(path, service.testKey), 200);
  };

const readsWithoutBody =
  (path: string): Proof =>
  async (service) =>
    answers(service.get(path, service.testKey), 200);

async function costOf(
  service: SpecService,
  { path, body }: Pick<Endpoint, 'path' | 'body'>,
  fields: object = {},
): Promise<number> {
  const key = await service.newKey();
  const reply = await service.post(path, body(fields), { key });
  assert.equal(reply.status, 200, reply.text);
  const [record] = listOf(await service.get('/v1/usage', key));
  assert.equal(record!['cost_cents'], reply.costMicros! / 10_000);
  return reply.costMicros!;
}

const replaysUnderKey: Proof = async (service) => {
  const key = await service.newKey();
  const headers = { 'idempotency-key': 'once' };
  const ask = () => service.chat({}, { key, headers });
  const [first, second] = [await ask(), await ask()];
  assert.equal(second.json()['id'], first.json()['id']);
  assert.equal(second.headers['x-service-cache'], 'idempotent-replay');
  assert.equal(second.costMicros, 0);
};

const answersFromCache: Proof = async (service) => {
  const key = await service.newKey();
  const ask = () => service.chat({ temperature: 0 }, { key });
  const [first, second] = [await ask(), await ask()];
  assert.ok(first.costMicros! > 0);
  assert.deepEqual([second.headers['x-service-cache'], second.costMicros], ['hit', 0]);
};

export const endpointSections: Sections = {
  'What the service does': {
    'The service accepts language-model requests in three formats and returns results in the same format: Responses (`POST /v1/responses`), Chat Completions (`POST /v1/chat/completions`) and Messages (`POST /v1/messages`).':
      async (service) => {
        assert.equal((await service.response())['object'], 'response');
        assert.equal((await service.completion())['object'], 'chat.completion');
        assert.equal((await service.message())['type'], 'message');
      },
    'It counts tokens for a Messages-format request without running it (`POST /v1/messages/count_tokens`).':
      async (service) => {
        const key = await service.newKey();
        await answers(
          service.post(countPath, messages.body({ max_tokens: undefined }), { key }),
          200,
        );
        assert.deepEqual(listOf(await service.get('/v1/usage', key)), []);
      },
    'It generates and edits images (`POST /v1/images/generations`); each generated image is charged.':
      async (service) => {
        const one = await costOf(service, drawing);
        assert.ok(one > 0);
        assert.equal(await costOf(service, drawing, { n: 2 }), 2 * one);
        assert.ok(
          (await costOf(service, drawing, { model: 'gpt-image-flare-edit', images: [pixel] })) > 0,
        );
      },
    'It performs web search (`POST /v1/web-search`).': async (service) =>
      answers(service.post(searchPath, { query: 'cats' }), 200),
    'It lists models (`GET /v1/models`, `GET /v1/models/info`).': async (service) =>
      assert.ok((await service.models()).length > 0 && (await service.infos()).length > 0),
    'It reports the account balance and totals (`GET /v1/balance`) and the charge history (`GET /v1/usage`).':
      async (service) => {
        const { key, record } = await service.usage();
        const balance = (await service.get('/v1/balance', key)).json();
        assert.equal(balance['total_tokens_used'], record['total_tokens']);
      },
    'The Responses endpoint is stateless: it keeps no conversation between requests.': async (
      service,
    ) => {
      const { id } = await service.response();
      const said = { input: 'And then?' };
      const [alone, after] = [
        await service.accepts(responses, said),
        await service.accepts(responses, { ...said, previous_response_id: id }),
      ];
      assert.deepEqual(
        (after['usage'] as Json)['input_tokens'],
        (alone['usage'] as Json)['input_tokens'],
      );
    },
    'Charges are made to an account balance in USD.': async (service) => {
      const { key, account } = await service.gateway.makeKey();
      const before = (await service.gateway.balance(account, 'test')).availableMicros;
      const { costMicros } = await service.chat({}, { key });
      assert.equal(
        (await service.gateway.balance(account, 'test')).availableMicros,
        before - costMicros!,
      );
    },
    'Cost is reported per response in headers.': async (service) => {
      for (const { path, body } of charged) {
        const { headers } = await service.post(path, body({}));
        assert.match(String(headers['x-service-cost-micros']), /^[1-9]\d*$/, path);
      }
    },
    'A request rejected by a per-key check is not charged.': async (service) => {
      const key = await service.newKey({ models: ['gpt-4o'] });
      await answers(service.chat({}, { key }), 403);
      assert.deepEqual(listOf(await service.get('/v1/usage', key)), []);
    },
    'Per-key controls: daily and monthly spend caps and an allowed-model list, configured per key in a dashboard.':
      async ({ gateway }) => {
        const owner = await signIn(gateway);
        const controls = {
          daily_cap_micros: 1_000_000,
          monthly_cap_micros: 2_000_000,
          models: ['gpt-4o'],
        };
        const made = await owner.post(`/accounts/${owner.account}/keys`, {
          mode: 'test',
          name: 'Capped',
          ...controls,
        });
        assert.partialDeepStrictEqual(made.json()['key'], controls);
      },
    'Requests may carry an idempotency key.': replaysUnderKey,
    'Identical requests may be answered from a cache at no charge.': answersFromCache,
  },
  'States and transitions': {
    'response `in_progress` | stream event `response.completed` | streaming request finishes | `completed` | final response object sent':
      async (service) => {
        const { response } = (await service.event('text', 'response.completed')) as {
          response: Json;
        };
        assert.equal(response['status'], 'completed');
        assert.equal((response['output'] as Json[]).length, 1);
      },
    'idempotent stored response | 24 hours elapse |  | expired | a later request with the same key is treated as new':
      replaysForDay,
    'cache entry | 7 days elapse |  | expired |': cachesForWeek,
    'A non-streaming response is returned with status `completed`.': async (service) =>
      assert.equal((await service.response())['status'], 'completed'),
  },
  Endpoints: {
    'All model-running endpoints are charged.': async (service) => {
      for (const at of charged) assert.ok((await costOf(service, at)) > 0, at.path);
    },
  },
  'POST /v1/responses': {
    'model | string | yes | model name or alias': takes(
      responses,
      [{ model: 'gpt-6-luna' }, { model: 'fast' }],
      [{ model: undefined }, { model: 5 }],
    ),
    'input | string or array |  | a string, or an array of items': takes(
      responses,
      [{ input: 'Hello!' }, { input: [{ type: 'message', role: 'user', content: 'Hello!' }] }],
      [{ input: 5 }],
    ),
    'instructions | string |  | system prompt': reaches(responses, { instructions: 'Be brief.' }),
    'stream | boolean |  | SSE streaming; default false': streams(responses),
    'max_output_tokens | integer |  | maximum tokens in the answer': async (service) => {
      const { usage } = (await service.accepts(responses, {
        input: 'Hello!\nsandbox: tokens=500',
        max_output_tokens: 20,
      })) as { usage: Json };
      assert.equal(usage['output_tokens'], 20);
    },
    'temperature | number |  | sampling temperature': takes(
      responses,
      [{ temperature: 0.5 }],
      [{ temperature: 'hot' }],
    ),
    'top_p | number |  | nucleus sampling': takes(responses, [{ top_p: 0.5 }], [{ top_p: 'all' }]),
    'tools | array |  | functions in Responses form': async (service) =>
      assert.ok(isText(((await service.responseWithCall())['output'] as Json[])[0]!['call_id'])),
    'tool_choice | string or object |  | tool selection strategy': takes(responses, [
      ...['none', 'auto', 'required'].map((choice) => ({
        tools: [responsesTool],
        tool_choice: choice,
      })),
      { tools: [responsesTool], tool_choice: { type: 'function', name: 'get_weather' } },
    ]),
    'parallel_tool_calls | boolean |  | allow parallel tool calls': takes(
      responses,
      [{ tools: [responsesTool], parallel_tool_calls: false }],
      [{ parallel_tool_calls: 'no' }],
    ),
    'reasoning | object |  | `{effort}` with effort one of `low`, `medium`, `high`': async (
      service,
    ) => {
      for (const effort of ['low', 'medium', 'high'])
        await service.accepts(responses, { reasoning: { effort } });
      await service.refuses(responses, { reasoning: { effort: 'enormous' } }, 'reasoning.effort');
    },
    'truncation | string |  | truncation strategy': takes(responses, [
      { truncation: 'auto' },
      { truncation: 'disabled' },
    ]),
    'previous_response_id | string |  | accepted and ignored': takes(responses, [
      { previous_response_id: 'resp_of_another_day' },
    ]),
    'store | boolean |  | accepted and ignored': async (service) => {
      await takes(responses, [{ store: true }, { store: false }])(service);
      await reaches(responses, { store: false })(service);
    },
    'message | type `message`, role (string), content (string, or array of parts: `input_text` with text string; `input_image` with image_url string, a URL)':
      takes(responses, [
        { input: [{ type: 'message', role: 'user', content: 'Hello!' }] },
        {
          input: [
            {
              type: 'message',
              role: 'user',
              content: [
                { type: 'input_text', text: 'What is it?' },
                { type: 'input_image', image_url: pixel },
              ],
            },
          ],
        },
      ]),
    'function_call | type `function_call`, call_id string, name string, arguments string holding JSON':
      (service) => continuesConversation(service, 'call_1'),
    'function_call_output | type `function_call_output`, call_id string, output string': async (
      service,
    ) => {
      await continuesConversation(service, 'call_2');
      await service.refuses(
        responses,
        { input: [{ type: 'function_call_output', output: 'sunny' }] },
        'input[0].call_id',
      );
    },
    'A tool in `tools`: type `function`, name (string), description (string), parameters (JSON-schema object with type, properties, required).':
      reaches(responses, { tools: [{ type: 'function', ...weatherTool }] }),
    'Response: the response object (see Resources); with `stream` true, an SSE stream (see Events).':
      async (service) => {
        assert.equal((await service.response())['object'], 'response');
        assert.match(
          String((await service.events('text')).reply.headers['content-type']),
          /^text\/event-stream/,
        );
      },
    'Multi-turn conversations are sent by the caller as the full input array.': async (service) => {
      const { output } = await service.responseWithCall();
      const { call_id: id } = (output as Json[])[0]!;
      const input = [
        { role: 'user', content: 'Weather?' },
        ...(output as Json[]),
        { type: 'function_call_output', call_id: id, output: 'sunny' },
      ];
      await service.accepts(responses, { input, tools: [responsesTool] });
    },
  },
  'POST /v1/chat/completions': {
    'model | string | yes | model id': takes(chat, [{ model: 'gpt-4o' }], [{ model: undefined }]),
    'messages | array | yes | items with role (e.g. `system`, `user`) and content (string)': takes(
      chat,
      [
        {
          messages: [
            { role: 'system', content: 'Be brief.' },
            { role: 'user', content: 'Hello!' },
          ],
        },
      ],
      [{ messages: undefined }],
    ),
    'max_tokens | integer | no | maximum answer tokens; limit 2048': takesMaxTokens,
    'temperature | float | no | 0 to 2': takesTemperature(chat, 2),
    'stream | boolean | no | SSE streaming': streams(chat),
    'top_p | float | no | nucleus sampling': takes(chat, [{ top_p: 0.5 }], [{ top_p: 1.01 }]),
    'Response: chat completion object, or SSE chunks when streaming.': async (service) => {
      assert.equal((await service.completion())['object'], 'chat.completion');
      const { frames } = await service.chat({ stream: true });
      assert.equal((frames[0]!.data as Json)['object'], 'chat.completion.chunk');
    },
  },
  'POST /v1/messages': {
    'model | string | yes | model id': takes(
      messages,
      [{ model: 'claude-haiku-4-5' }],
      [{ model: undefined }],
    ),
    'max_tokens | integer | yes | maximum answer tokens': takes(
      messages,
      [{ max_tokens: 5 }],
      [{ max_tokens: undefined }],
    ),
    'messages | array | yes | items with role and content (string)': takes(
      messages,
      [
        {
          messages: [
            { role: 'user', content: 'Hello!' },
            { role: 'assistant', content: 'Hi.' },
            { role: 'user', content: 'Well?' },
          ],
        },
      ],
      [{ messages: undefined }],
    ),
    'system | string | no | system prompt': reaches(messages, { system: 'Be brief.' }),
    'stream | boolean | no | streaming': streams(messages),
    'temperature | float | no | 0 to 1': takesTemperature(messages, 1),
    'top_p | float | no | nucleus sampling': reaches(messages, { top_p: 0.5 }),
    'top_k | integer | no | top-K sampling': reaches(messages, { top_k: 40 }),
    'tools | array | no | function calling tools': reaches(messages, { tools: [messagesTool] }),
    'tool_choice | object | no | tool selection': reaches(messages, {
      tools: [messagesTool],
      tool_choice: { type: 'auto' },
    }),
    'stop_sequences | array | no | stop sequences': reaches(messages, { stop_sequences: ['END'] }),
    'metadata | object | no | request metadata': takes(
      messages,
      [{ metadata: { user_id: 'u' } }],
      [{ metadata: 5 }],
    ),
    'Response: message object.': async (service) =>
      assert.equal((await service.message())['type'], 'message'),
  },
  'POST /v1/messages/count_tokens': {
    'Request: model (string), messages (array of role/content), system (string).': async (
      service,
    ) => {
      const count = async (fields: object) =>
        (
          await service.post(countPath, { ...messages.body({ max_tokens: undefined }), ...fields })
        ).json();
      assert.ok(
        Number((await count({ system: 'Be brief.' }))['input_tokens']) >
          Number((await count({}))['input_tokens']),
      );
    },
    'Response: `{input_tokens}` (integer).': async (service) => {
      const reply = await service.post(countPath, messages.body({ max_tokens: undefined }));
      assert.deepEqual(Object.keys(reply.json()), ['input_tokens']);
      assert.ok(isCount(reply.json()['input_tokens']));
    },
    'Works only with models of the provider family whose format the Messages endpoint follows.':
      async (service) => {
        const reply = await service.post(
          countPath,
          messages.body({ max_tokens: undefined, model: 'gpt-6-luna' }),
        );
        assert.deepEqual([reply.status, reply.error.param], [400, 'model']);
      },
    'No model run and, as stated, no generation occurs.': async (service) => {
      const reply = await service.post(countPath, messages.body({ max_tokens: undefined }));
      assert.deepEqual([reply.status, reply.costMicros], [200, null]);
    },
  },
  'POST /v1/images/generations': {
    'Authorization required.': needsKey(drawing),
    'Charged per generated image (price per model in the catalog).': async (service) => {
      const [model] = (await service.imageModels()).filter(({ id }) => id === 'flux-2');
      const { output } = model!['image_prices'] as { output: Json };
      const price = Number(
        typeof output['medium'] === 'number' ? output['medium'] : Object.values(output)[0],
      );
      assert.equal(
        await costOf(service, drawing, { model: 'flux-2', n: 2 }),
        Math.ceil(2 * price * 1_000_000),
      );
    },
    'model | string | yes | image model id': async (service) => {
      await service.refuses(drawing, { model: undefined });
      await answers(service.image(), 200);
    },
    'prompt | string | yes | description of the image or of the edit': (service) =>
      service.refuses(drawing, { prompt: undefined }),
    'images | array | conditional | public URLs or data URLs (`data:image/<type>;base64,<data>`); required for edit and reference models':
      async (service) => {
        const { path, body } = drawing;
        const edit = { model: 'gpt-image-flare-edit' };
        await answers(service.post(path, body({ ...edit, images: [pixel] })), 200);
        await service.refuses(drawing, edit, 'images');
        await service.refuses(
          drawing,
          { ...edit, images: ['http://127.0.0.1/private.png'] },
          'images[0]',
        );
      },
    'size | string | no | for the size/quality families, form `<width>x<height>`': async (
      service,
    ) => {
      await answers(service.post(drawing.path, drawing.body({ size: '128x64' })), 200);
      await service.refuses(drawing, { size: 'large' });
    },
    'quality | string | no | `low`, `medium`, `high`': async (service) => {
      const costs: number[] = [];
      for (const quality of ['low', 'medium', 'high'])
        costs.push(await costOf(service, drawing, { quality }));
      assert.deepEqual(
        costs,
        costs.toSorted((one, other) => one - other),
      );
      await service.refuses(drawing, { quality: 'best' });
    },
    'n | integer | no | number of images, if the model supports it': async (service) => {
      assert.equal(listOf(await service.image({ n: 2 })).length, 2);
      await service.refuses(drawing, { n: 0 });
    },
    'aspect_ratio | string | no | for the aspect family, form `<w>:<h>`': async (service) => {
      const aspect = {
        ...drawing,
        body: (fields?: object) => ({ model: 'nano-banana', prompt: 'a fox', ...fields }),
      };
      await answers(service.post(aspect.path, aspect.body({ aspect_ratio: '16:9' })), 200);
      await service.refuses(aspect, { aspect_ratio: 'wide' });
    },
    'resolution | string | no | `1k`, `2k`, `4k`': async (service) => {
      const sized = {
        ...drawing,
        body: (fields?: object) => ({ model: 'nano-banana', prompt: 'a fox', ...fields }),
      };
      for (const resolution of ['1k', '2k', '4k']) {
        await answers(service.post(sized.path, sized.body({ resolution })), 200);
      }
      await service.refuses(sized, { resolution: '8k' });
    },
    'Response: image result object.': async (service) =>
      assert.partialDeepStrictEqual(Object.keys((await service.image()).json()).toSorted(), [
        'created',
        'data',
        'model',
      ]),
  },
  'GET /v1/models': {
    'No body.': readsWithoutBody('/v1/models'),
    'Response: model list.': async (service) => assert.ok((await service.models()).length > 0),
  },
  'GET /v1/models/info': {
    'No body.': readsWithoutBody('/v1/models/info'),
    'Authorization optional.': async (service) => {
      const [open, own] = [
        await service.get('/v1/models/info'),
        await service.get('/v1/models/info', service.testKey),
      ];
      assert.deepEqual([open.status, own.status], [200, 200]);
    },
    'Response: model info list.': async (service) => assert.ok((await service.infos()).length > 0),
  },
  'GET /v1/usage': {
    'Authorization required.': readNeedsKey('/v1/usage'),
    'limit | integer | records per page, 1 to 100, default 20': async (service) => {
      const key = await keyWithRecords(service, 21);
      const lengthOf = async (query: string) =>
        listOf(await service.get(`/v1/usage${query}`, key)).length;
      assert.equal(await lengthOf(''), 20);
      assert.equal(await lengthOf('?limit=1'), 1);
      assert.equal(await lengthOf('?limit=100'), 21);
      for (const limit of [0, 101])
        assert.equal((await service.get(`/v1/usage?limit=${limit}`, key)).error.param, 'limit');
    },
    'cursor | string | value of the previous next_cursor': readsAllPages,
    'Response: usage records.': async (service) =>
      assert.ok(isCount((await service.usage()).record['total_tokens'])),
    'When next_cursor is null there are no more records; otherwise pass it as cursor for the next page.':
      readsAllPages,
  },
  'GET /v1/balance': {
    'Authorization required.': readNeedsKey('/v1/balance'),
    'No body.': readsWithoutBody('/v1/balance'),
    'Response: balance object.': async (service) =>
      assert.ok(
        isCount((await service.get('/v1/balance', service.testKey)).json()['balance_cents']),
      ),
  },
  'POST /v1/web-search': {
    'Authorization required.': needsKey(searching),
    'query | string | yes | search query': async (service) => {
      assert.equal((await service.post(searchPath, { query: 'cats' })).json()['query'], 'cats');
      await service.refuses(searching, { query: undefined });
    },
    'num | integer | no | number of results': async (service) => {
      const { results } = (await service.post(searchPath, { query: 'cats', num: 3 })).json<{
        results: Json[];
      }>();
      assert.equal(results.length, 3);
      await service.refuses(searching, { num: 0 });
    },
  },
};

async function continuesConversation(service: SpecService, id: string): Promise<void> {
  const input = [
    { type: 'message', role: 'user', content: 'Weather?' },
    { type: 'function_call', call_id: id, name: 'get_weather', arguments: '{"city":"Paris"}' },
    { type: 'function_call_output', call_id: id, output: 'sunny' },
  ];
  await service.accepts(responses, { input, tools: [responsesTool] });
}

async function keyWithRecords(service: SpecService, count: number): Promise<string> {
  const key = await service.newKey();
  await Promise.all(Array.from({ length: count }, () => service.chat({}, { key })));
  return key;
}

async function readsAllPages(service: SpecService): Promise<void> {
  const key = await keyWithRecords(service, 5);
  const ids = new Set<unknown>();
  let pages = 0;
  for (let cursor: string | null = ''; cursor !== null; pages++) {
    const page = await service.get(
      `/v1/usage?limit=2${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
      key,
    );
    for (const record of listOf(page)) ids.add(record['request_id']);
    cursor = page.json<{ next_cursor: string | null }>().next_cursor;
  }
  assert.deepEqual([ids.size, pages], [5, 3]);
}
