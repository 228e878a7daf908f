// The specification's chapter on resources and their fields.
import assert from 'node:assert/strict';
import {
  answers,
  countPath,
  fieldsOf,
  imagesPath,
  is,
  isCount,
  isFlag,
  isPrice,
  isSeconds,
  isText,
  type Json,
  listOf,
  messages,
  responses,
  type Sections,
  type SpecService,
} from './spec-service.ts';

const ofResponse = (service: SpecService) => service.response();
const ofCompletion = (service: SpecService) => service.completion();
const ofMessage = (service: SpecService) => service.message();
const ofImage = async (service: SpecService) => (await service.image()).json();
const ofModels = (service: SpecService) => service.models();
const ofInfos = (service: SpecService) => service.infos();
const ofRecord = async (service: SpecService) => (await service.usage()).record;
const ofBalance = async (service: SpecService) =>
  (await service.get('/v1/balance', service.testKey)).json();

const isList = (value: unknown) => Array.isArray(value) && value.length > 0;
const pixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=';

/** Three counts; the third is the sum of the others. */
function addsUp(usage: unknown, one: string, other: string): boolean {
  const counts = usage as Json;
  return (
    [one, other, 'total_tokens'].every((name) => isCount(counts[name])) &&
    counts['total_tokens'] === Number(counts[one]) + Number(counts[other])
  );
}

function itemOf({ output }: Json, type: string): Json {
  const item = (output as Json[]).find((candidate) => candidate['type'] === type);
  assert.ok(item, `no ${type}`);
  return item;
}

/** Of an image that an answer links to. */
async function fetched(service: SpecService, url: unknown): Promise<string> {
  const { pathname, search, origin } = new URL(String(url));
  assert.equal(origin, service.gateway.url);
  const reply = await service.get(pathname + search);
  assert.equal(reply.status, 200);
  return String(reply.headers['content-type']);
}

export const resources: Sections = {
  'Response object (Responses format)': {
    ...fieldsOf(ofResponse, {
      'id | string | response identifier': isText,
      'object | string | constant `response`': is('response'),
      'created_at | integer | Unix timestamp': isSeconds,
      'output | array | output items, see below': isList,
      'usage | object | input_tokens, output_tokens, total_tokens (all integers)': (usage) =>
        addsUp(usage, 'input_tokens', 'output_tokens'),
    }),
    'model | string | model that served the request': async (service) =>
      assert.equal((await service.accepts(responses, { model: 'fast' }))['model'], 'gpt-6-luna'),
    'status | string | `completed` in a finished response; `in_progress` in the first streamed event':
      async (service) => {
        const { events } = await service.events('text');
        const streamed = [events[0]!, events.at(-1)!].map(
          (event) => (event['response'] as Json)['status'],
        );
        assert.deepEqual(
          [...streamed, (await service.response())['status']],
          ['in_progress', 'completed', 'completed'],
        );
      },
    'message | id (string), type `message`, role `assistant`, status (string, `completed`), content (array of parts; a part has type `output_text` and text string)':
      async (service) => {
        const item = itemOf(await service.response(), 'message');
        assert.ok(isText(item['id']));
        assert.deepEqual([item['role'], item['status']], ['assistant', 'completed']);
        const parts = item['content'] as Json[];
        assert.ok(
          parts.length > 0 &&
            parts.every(({ type, text }) => type === 'output_text' && isText(text)),
        );
      },
    'function_call | id (string, equals call_id), type `function_call`, call_id (string), name (string), arguments (string holding JSON), status (`completed`)':
      async (service) => {
        const item = itemOf(await service.responseWithCall(), 'function_call');
        assert.ok(isText(item['call_id']));
        assert.deepEqual(item['id'], item['call_id']);
        assert.equal(item['name'], 'get_weather');
        assert.equal(item['status'], 'completed');
        assert.deepEqual(JSON.parse(String(item['arguments'])), { city: 'Paris' });
      },
    'reasoning | id (string), type `reasoning`, summary (array, may be empty); present when reasoning.effort was set':
      async (service) => {
        const item = itemOf(await service.responseWithReasoning(), 'reasoning');
        assert.ok(isText(item['id']) && Array.isArray(item['summary']));
      },
  },
  'Chat completion object': {
    ...fieldsOf(ofCompletion, {
      'id | string | completion identifier': isText,
      'object | string | constant `chat.completion`': is('chat.completion'),
      'model | string |': is('gpt-6-luna'),
      'usage | object | prompt_tokens, completion_tokens, total_tokens (integers)': (usage) =>
        addsUp(usage, 'prompt_tokens', 'completion_tokens'),
    }),
    'choices | array | each: index (integer), message {role `assistant`, content string}, finish_reason (string, `stop` shown)':
      async (service) => {
        const choices = (await service.completion())['choices'] as {
          index: number;
          message: Json;
          finish_reason: string;
        }[];
        assert.ok(choices.length > 0);
        for (const [place, { index, message, finish_reason: reason }] of choices.entries()) {
          assert.deepEqual([index, message['role'], reason], [place, 'assistant', 'stop']);
          assert.ok(isText(message['content']));
        }
      },
  },
  'Message object (Messages format)': {
    ...fieldsOf(ofMessage, {
      'id | string |': isText,
      'type | string | constant `message`': is('message'),
      'role | string | `assistant`': is('assistant'),
      'model | string |': is('claude-haiku-4-5'),
      'content | array | blocks; a text block has type `text` and text string': (blocks) =>
        isList(blocks) &&
        (blocks as Json[]).every(({ type, text }) => type === 'text' && isText(text)),
      'stop_reason | string | `end_turn` shown': is('end_turn'),
      'usage | object | input_tokens, output_tokens (integers)': (usage) =>
        isCount((usage as Json)['input_tokens']) && isCount((usage as Json)['output_tokens']),
    }),
  },
  'Token count': {
    'input_tokens | integer': async (service) =>
      assert.ok(
        isCount(
          (await service.post(countPath, messages.body({ max_tokens: undefined }))).json()[
            'input_tokens'
          ],
        ),
      ),
  },
  'Image result': {
    ...fieldsOf(ofImage, {
      'created | integer | Unix timestamp of the response': isSeconds,
      'model | string | id of the model that served the request': is('gpt-image-flare'),
      'data | array | results': isList,
    }),
    'data[].url | string | URL of the finished image': async (service) => {
      const [image] = listOf(await service.image());
      assert.equal(await fetched(service, image!['url']), 'image/png');
    },
    'data[].b64_json | string | base64 PNG/JPEG, present when a base64 format was requested':
      async (service) => {
        const [image] = listOf(await service.image({ response_format: 'b64_json' }));
        const bytes = Buffer.from(String(image!['b64_json']), 'base64');
        assert.equal(bytes.subarray(1, 4).toString(), 'PNG');
      },
    'The image catalog has ten model ids in three modes: `text-to-image`, `edit`, `reference`.':
      async (service) => {
        const images = await service.imageModels();
        assert.equal(images.length, 10);
        assert.deepEqual(
          new Set(images.map(({ mode }) => mode)),
          new Set(['text-to-image', 'edit', 'reference']),
        );
      },
    'Families: two families use size and quality; one family uses aspect_ratio and resolution.':
      async (service) => {
        const draw = (fields: object) => service.post(imagesPath, { prompt: 'a fox', ...fields });
        for (const model of ['gpt-image-flare', 'flux-2']) {
          await answers(draw({ model, size: '64x64', quality: 'low' }), 200);
          await answers(draw({ model, aspect_ratio: '1:1', resolution: '1k' }), 400);
        }
        await answers(draw({ model: 'nano-banana', aspect_ratio: '1:1', resolution: '1k' }), 200);
        await answers(draw({ model: 'nano-banana', size: '64x64', quality: 'low' }), 400);
        const families = new Set((await service.imageModels()).map(({ family }) => family));
        assert.deepEqual(families, new Set(['gpt-image', 'flux-2', 'nano-banana']));
      },
    'Edit and reference models require input images.': async (service) => {
      const needy = (await service.imageModels()).filter(({ mode }) => mode !== 'text-to-image');
      assert.ok(needy.length > 0);
      for (const { id } of needy) {
        const body = (fields: object = {}) => ({ model: id, prompt: 'a fox', ...fields });
        await service.refuses({ path: imagesPath, body }, {}, 'images');
        await answers(service.post(imagesPath, body({ images: [pixel] })), 200);
      }
    },
  },
  'Model list entry (`GET /v1/models`)': {
    'object (top level) | string | constant `list`': async (service) =>
      assert.equal((await service.get('/v1/models')).json()['object'], 'list'),
    'data | array | entries': async (service) => assert.ok((await service.models()).length > 0),
    ...fieldsOf(ofModels, {
      'data[].id | string | model id': isText,
      'data[].object | string | constant `model`': is('model'),
      'data[].created | integer | Unix timestamp': isSeconds,
      'data[].owned_by | string | owner label': isText,
    }),
  },
  'Model info entry (`GET /v1/models/info`)': {
    'Response is an object with `data`, an array of entries:': async (service) =>
      assert.ok((await service.infos()).length > 0),
    ...fieldsOf(ofInfos, {
      'id | string | model id': isText,
      'display_name | string | readable name': isText,
      'max_output_tokens | integer | maximum output tokens': isCount,
      'supports_thinking | boolean | extended thinking supported': isFlag,
      'supports_streaming | boolean | SSE streaming supported': isFlag,
      'supports_vision | boolean | image input supported': isFlag,
      'input_price_per_1m | float | USD per million input tokens': isPrice,
      'output_price_per_1m | float | USD per million output tokens': isPrice,
      'cache_write_price_per_1m | float | USD per million cache-write tokens': isPrice,
      'cache_read_price_per_1m | float | USD per million cache-read tokens': isPrice,
    }),
    'max_input_tokens | integer | maximum context window': async (service) => {
      for (const info of await service.infos())
        assert.equal(info['max_input_tokens'], info['context_window'], String(info['id']));
    },
    "With a key, prices may reflect individual settings for that key's account.": async ({
      gateway,
    }) => {
      const { key, account } = await gateway.makeKey();
      await gateway.database.write
        .updateTable('accounts')
        .set({ price_multiplier_ppm: 500_000 })
        .where('id', '=', account)
        .execute();
      const priceFor = async (name?: string) => {
        const info = listOf(await gateway.get('/v1/models/info', { key: name })).find(
          ({ id }) => id === 'gpt-6-luna',
        )!;
        return Number(info['output_price_per_1m']);
      };
      assert.equal(await priceFor(key), (await priceFor()) / 2);
    },
  },
  'Usage record (`GET /v1/usage`)': {
    'Response: `data` (array of records) and `next_cursor` (string or null).': async (service) => {
      const { key } = await service.usage();
      const page = (await service.get('/v1/usage', key)).json();
      assert.ok(isList(page['data']));
      assert.equal(page['next_cursor'], null);
    },
    ...fieldsOf(ofRecord, {
      'created_at | string | ISO 8601 timestamp': (value) =>
        /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(String(value)),
      'model | string | display name of the model': is('GPT-6 Luna'),
      'input_tokens | integer |': isCount,
      'output_tokens | integer |': isCount,
    }),
    'total_tokens | integer | input + output': async (service) =>
      assert.ok(addsUp((await service.usage()).record, 'input_tokens', 'output_tokens')),
    'cost_cents | float | cost in USD cents, with exact fractional part': async (service) => {
      const { record, reply } = await service.usage();
      assert.equal(record['cost_cents'], reply.costMicros! / 10_000);
      assert.ok(!Number.isInteger(record['cost_cents']));
    },
    'The cursor is an opaque string; its observed shape is `<timestamp>|<record_id>`.': async (
      service,
    ) => {
      const key = await service.newKey();
      for (let count = 0; count < 2; count++) await service.chat({}, { key });
      const { next_cursor: cursor } = (await service.get('/v1/usage?limit=1', key)).json();
      assert.match(String(cursor), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\|\w+$/);
    },
  },
  'Balance (`GET /v1/balance`)': {
    'balance_cents | integer | current balance in USD cents (1234 means $12.34)': async (
      service,
    ) => {
      const key = await service.newKey({ mode: 'live', creditUsd: 12.34 });
      assert.equal((await service.get('/v1/balance', key)).json()['balance_cents'], 1_234);
    },
    ...fieldsOf(ofBalance, {
      'total_input_tokens | integer | all time': isCount,
      'total_output_tokens | integer | all time': isCount,
      'total_tokens_used | integer | all time': isCount,
    }),
    'The balance is available funds minus active reservations.': async ({ gateway }) => {
      const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
      const { promise, resolve } = Promise.withResolvers<void>();
      const arrived = Promise.withResolvers<void>();
      gateway.upstream.on(responses.upstreamPath, async (response) => {
        arrived.resolve();
        await promise;
        response.destroy();
      });
      const running = gateway.post(responses.path, {
        key,
        body: responses.body({ max_output_tokens: 100_000 }),
      });
      await arrived.promise;
      const { heldMicros, availableMicros } = await gateway.balance(account);
      const shown = (await gateway.get('/v1/balance', { key })).json()['balance_cents'];
      resolve();
      await running;
      assert.ok(heldMicros > 0);
      assert.deepEqual(availableMicros, 5_000_000 - heldMicros);
      assert.deepEqual(shown, Math.floor((5_000_000 - heldMicros) / 10_000));
    },
  },
};
