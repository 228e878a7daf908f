// What a client sent by mistake is in the message that it gets, and nowhere else: the history and the
// log keep the field's name and the kind of its value.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { endpoints } from '../support/endpoints.ts';
import { startGateway } from '../support/gateway.ts';
import { fieldsOf, setOwnField } from '../support/odd-values.ts';
import { richBodies } from '../support/rich-bodies.ts';

const gateway = await startGateway();
const { key } = await gateway.makeKey();
after(() => gateway.stop());

/** Has each kind of quote, so that none of them ends where another was meant to. */
const secret = `my "sesame' \`opens\\ the 'zebra" hush`;
const isSecret = /sesame|opens|zebra|hush|4111111111111111/;
const unknownModel = 'no such hush model';
const models = ['gpt-6-luna', 'claude-haiku-4-5', 'gemini-3.8-flash', unknownModel];
/** `add` adds a field. */
const wrongValues = [
  secret,
  4_111_111_111_111_111,
  [secret],
  { [secret]: secret },
  { type: secret },
  'add',
];

async function detailsKept(from = gateway): Promise<readonly string[]> {
  await from.program.app.gateway.observe.activity.flush();
  const { read, write } = from.database;
  const rows = await read.selectFrom('request_log').select('details').execute();
  await write.deleteFrom('request_log').execute();
  return rows.map(({ details }) => details);
}

/** Sends in steps: of a storm, the history keeps a sample. */
async function assertNothingKept(requests: readonly (() => Promise<unknown>)[]): Promise<number> {
  let kept = 0;
  for (let start = 0; start < requests.length; start += 50) {
    await Promise.all(requests.slice(start, start + 50).map((send) => send()));
    const details = await detailsKept();
    kept += details.length;
    for (const text of details) assert.doesNotMatch(text, isSecret);
  }
  assert.doesNotMatch(gateway.program.output, isSecret);
  return kept;
}

for (const { name, path } of endpoints)
  test(`no wrong value of a request to ${path} is kept`, async () => {
    const wrong = models.flatMap((model, index) => {
      const rich: object = { ...richBodies[name], model };
      /** All for the first model, and in turn a third of them for each field of the others. */
      const valuesOf = (place: number) =>
        wrongValues.filter((_, one) => index === 0 || (one + place + index) % 3 === 0);
      return fieldsOf(rich).flatMap((_, place) =>
        // The model is refused before most fields are read.
        (model === unknownModel ? [secret] : valuesOf(place)).map((value) => {
          const body = structuredClone(rich);
          const [parent, field] = fieldsOf(body)[place]!;
          if (value !== 'add') setOwnField(parent, field, value);
          else if (!Array.isArray(parent)) setOwnField(parent, secret, value);
          return body;
        }),
      );
    });
    const send = (body: object) => () => gateway.post(path, { key, body });
    assert.ok((await assertNothingKept(wrong.map(send))) > 500);
  });

test('no wrong value of an image, a search, a header or a path is kept', async () => {
  const bodies: readonly (readonly [string, object])[] = [
    ...['prompt', 'size', 'quality', 'aspect_ratio', 'output_format', 'image', 'n', secret].map(
      (field) =>
        ['/v1/images/generations', { model: 'flux-2', prompt: 'A', [field]: secret }] as const,
    ),
    ['/v1/images/generations', { model: secret, prompt: 'A' }],
    ['/v1/images/edits', { model: 'flux-2', prompt: 'A', images: [secret] }],
    ['/v1/web-search', { query: 'cats', max_results: secret, [secret]: 1 }],
    ['/v1/messages/count_tokens', { model: secret, messages: [] }],
    ['/v1/responses/input_tokens', { model: secret, input: [{ type: secret }] }],
  ];
  const chat = { model: 'gpt-6-luna', messages: [{ role: 'user', content: 'Hi' }] };
  const headers = ['x-service-tags', 'x-service-cache', 'content-type', 'content-encoding'];
  const kept = await assertNothingKept([
    ...bodies.map(
      ([path, body]) =>
        () =>
          gateway.post(path, { key, body }),
    ),
    ...headers.map(
      (header) => () =>
        gateway.post('/v1/chat/completions', { key, body: chat, headers: { [header]: secret } }),
    ),
    () => gateway.get(`/v1/usage?${encodeURIComponent(secret)}=1`, { key }),
    () => gateway.get(`/v1/sesame-hush`, { key }),
  ]);
  assert.ok(kept > 10);
});

const prefixes = [
  'sk-proj-',
  'gsk_',
  'AIza',
  'xai-',
  'pplx-',
  'nvapi-',
  'csk-',
  'hf_',
  'fw_',
  'r8_',
];
const providerKeys = prefixes.map((prefix) => `${prefix}4111111111111111`);

test('a key in the place of the model is not kept', async () => {
  for (const { path, body } of endpoints)
    for (const model of [key, ...providerKeys])
      assert.equal((await gateway.post(path, { key, body: body({ model }) })).status, 404);
  const details = await detailsKept();
  assert.ok(details.length > 0);
  for (const text of details) assert.doesNotMatch(text, /tg_test_|sk-proj|4111111111/);
});

test('the client still gets the value, and the history names the field', async () => {
  const messages = [{ role: 'user', content: 'Hi' }];
  const body = { model: 'gpt-6-luna', messages, temperature: 'my secret words' };
  const reply = await gateway.post('/v1/chat/completions', { key, body });
  assert.match(reply.text, /temperature must be .*; got \\"my secret words\\"/);
  const [details] = await detailsKept();
  const { errorMessage, errorParam } = JSON.parse(details!) as Record<string, string>;
  assert.equal(errorParam, 'temperature');
  assert.match(errorMessage!, /^temperature must be a number from 0 to 2; got "…"$/);
});

test('a field name that a client chose is cut', async (t) => {
  const strict = await startGateway({ limits: { unknown_fields: 'refuse' } });
  t.after(() => strict.stop());
  const { key: own } = await strict.makeKey();
  const messages = [{ role: 'user', content: 'Hi' }];
  const body = { model: 'gpt-6-luna', messages, [`a${'b'.repeat(500)}`]: 1 };
  const reply = await strict.post('/v1/chat/completions', { key: own, body });
  assert.equal(reply.status, 400);
  const [details] = await detailsKept(strict);
  assert.equal(
    (JSON.parse(details!) as Record<string, string>)['errorParam'],
    `a${'b'.repeat(39)}……`,
  );
  assert.ok(details!.length < 500, details);
});
