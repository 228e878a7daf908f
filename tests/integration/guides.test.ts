// The samples of the guides in curl and JavaScript do what the guides say. The group `guides` of
// `npm run test:all` has the other languages.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { parse } from 'yaml';
import { adminOf } from '../support/admin.ts';
import { root } from '../support/built-program.ts';
import { startGateway } from '../support/gateway.ts';
import {
  assertPrints,
  guideTexts,
  runModules,
  runSample,
  samples,
  samplesIn,
} from '../support/guide-samples.ts';

const gateway = await startGateway({ test_mode: { enabled: true } });
const { key } = await gateway.makeKey();
after(() => gateway.stop());

const samplesOf = (language: string) => {
  const own = samples.filter((sample) => sample.language === language);
  assert.ok(own.length > 5, `only ${own.length} samples were found`);
  return own;
};

test('samples in sh print what the guides say', { concurrency: 2 }, async (context) => {
  const inBash = (code: string) => ({ program: 'bash', args: ['-c', code] });
  await Promise.all(
    samplesOf('sh').map((sample) =>
      context.test(sample.place, () => runSample(gateway, sample, inBash)),
    ),
  );
});

test('samples in js print what the guides say', async (context) => {
  const own = samplesOf('js');
  const printed = await runModules(gateway, own);
  for (const [index, sample] of own.entries())
    await context.test(sample.place, () => assertPrints(printed[index]!, sample));
});

test('settings in JSON and YAML can be read', () => {
  const blocks = guideTexts.flatMap(([name, text]) =>
    [...text.matchAll(/^```(json|yaml)\n([^]*?)^```$/gm)].map(([, language, block]) => ({
      name,
      language,
      block: block!,
    })),
  );
  // Other blocks show a part of an answer.
  const whole = blocks.filter(
    ({ language, block }) => language === 'yaml' || block.startsWith('{'),
  );
  assert.ok(whole.length >= 4);
  for (const { name, block } of whole)
    assert.equal(typeof parse(block), 'object', `a block in ${name} cannot be read`);
});

type Usage = { readonly usage?: { readonly cost?: number } };

const ask = (path: string, body: object) => gateway.post(path, { key, body });
const searching = { input: 'Hi', tools: [{ type: 'web_search' }] };
const chatHello = { model: 'gpt-6-luna', messages: [{ role: 'user', content: 'Hi' }] };

/** Sentences of guides, each with the request that checks it. */
const claims: readonly (readonly [guide: string, words: string, check: () => Promise<void>])[] = [
  [
    'costs.md',
    "`usage.cost` in a model's answer | the cost in US dollars; the endpoints of images and searches have only the headers",
    async () => {
      const chat = await ask('/v1/chat/completions', chatHello);
      assert.equal(chat.json<Usage>().usage!.cost, chat.costMicros! / 1e6);
      const image = await ask('/v1/images/generations', { model: 'flux-2', prompt: 'A cat' });
      const search = await ask('/v1/web-search', { query: 'cats' });
      for (const reply of [image, search]) {
        assert.ok(reply.costMicros! > 0);
        assert.equal(reply.json<Usage>().usage?.cost, undefined);
      }
    },
  ],
  [
    'from-litellm.md',
    'the entries of `metadata` count as [tags]',
    async () => {
      const { requestId } = await ask('/v1/chat/completions', {
        ...chatHello,
        metadata: { team: 'blue' },
      });
      const reply = await gateway.get(`/v1/usage?request_id=${requestId}`, { key });
      assert.deepEqual(reply.json<{ data: { tags: string[] }[] }>().data[0]!.tags, ['team=blue']);
    },
  ],
  ...['from-litellm.md', 'from-openrouter.md'].map(
    (guide) =>
      [
        guide,
        'for the [admin API](../admin-api.md)',
        async () => {
          const admin = await adminOf(gateway);
          const { id } = await admin.ok('POST', '/accounts', { body: { name: 'Acme' } });
          const made = await admin.ok('POST', `/accounts/${String(id)}/keys`, {
            body: { name: 'Shop', mode: 'test' },
          });
          assert.match(JSON.stringify(made), /"tg_test_/);
        },
      ] as const,
  ),
  [
    'from-new-api.md',
    '`rank` (lower is first) and `weight` of a route',
    async () => {
      const schema = readFileSync(join(root, 'docs', 'config.schema.json'), 'utf8');
      for (const name of ['rank', 'weight']) assert.ok(schema.includes(`"${name}": {`), name);
    },
  ],
  [
    'codex.md',
    "On OpenAI's own models each search is\n  charged",
    async () => {
      const forms = [{ type: 'web_search' }, { type: 'web_search', external_web_access: false }];
      for (const tool of forms) {
        const reply = await ask('/v1/responses', {
          ...searching,
          model: 'gpt-6-luna',
          tools: [tool],
        });
        assert.deepEqual([reply.status, reply.headers['x-service-ignored']], [200, undefined]);
      }
    },
  ],
  [
    'codex.md',
    'On other\n  models the search is left out, and `X-Service-Ignored` lists it.',
    async () => {
      const reply = await ask('/v1/responses', { ...searching, model: 'claude-haiku-4-5' });
      assert.deepEqual([reply.status, reply.headers['x-service-ignored']], [200, 'tools[0]']);
    },
  ],
];

for (const [guide, words, check] of claims) {
  test(`${guide} says, and it is so: ${words.replaceAll(/\s+/g, ' ')}`, async () => {
    assert.ok(guideTexts.find(([name]) => name === guide)![1].includes(words), 'says otherwise');
    await check();
  });
}

/** Checks the checks: they must be able to fail. */
test('a sample without its output, and a sample that prints something else, fail', () => {
  assert.throws(() => samplesIn('x.md', '```sh run\necho 1\n```\n'), /x\.md, line 1/);
  const [sample] = samplesIn('x.md', 'a\n\n```sh run\ne\n```\n\n```text output\none…three\n```\n');
  assertPrints('One, two, three', sample!);
  assert.throws(() => assertPrints('three, one', sample!), /x\.md, line 3 does not print “three”/);
});
