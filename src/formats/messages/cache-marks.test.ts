import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CanonicalRequest, Message, Tool } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import { clientRequest, upstreamTarget } from '../../../tests/support/formats/messages.ts';
import { asCloudMarks } from './cache-marks.ts';
import { readRequest } from './read-request.ts';
import { writeRequest } from './write-request.ts';

const text = (value: string) => ({ type: 'text' as const, text: value });
const marked = { ...text('Be brief.'), cacheControl: { type: 'ephemeral' as const } };
const thought = {
  type: 'thinking' as const,
  text: 'Hm.',
  signature: { vendor: 'anthropic' as const, value: 'c2ln' },
  redacted: false,
};
const user = (value: string): Message => ({ role: 'user', content: [text(value)] });
const assistant: Message = { role: 'assistant', content: [thought, text('Yes?')] };
const toolOf = (name: string): Tool => ({
  name,
  description: null,
  parameters: null,
  strict: null,
  kind: 'function',
});
const base: CanonicalRequest = {
  ...readRequest(clientRequest()),
  system: [text('Be brief.'), text('Be kind.')],
  messages: [user('One'), assistant, user('Two')],
  tools: [toolOf('look'), toolOf('find')],
};

/** Returns the marked blocks, by what they hold. */
function marksOf(fields: Partial<CanonicalRequest>, target: object = {}): unknown[] {
  const request = { ...base, ...fields };
  const { body } = writeRequest(
    request,
    upstreamTarget({ model: 'claude-sonnet-5', cacheableTokens: 5_000, ...target }),
  );
  const { tools = [], system = [], messages } = body as Record<string, JsonObject[]>;
  const blocks = [...tools, ...system, ...messages!.flatMap(({ content }) => content)];
  return (blocks as JsonObject[])
    .filter(({ cache_control: mark }) => mark !== undefined)
    .map((block) => block.text ?? block.name);
}

test('the end of the system prompt, of the request before and of this one is marked', () => {
  assert.deepEqual(marksOf({}), ['Be kind.', 'One', 'Two']);
  assert.deepEqual(marksOf({ system: [] }), ['find', 'One', 'Two']);
  assert.deepEqual(marksOf({ system: [], tools: [] }), ['One', 'Two']);
  assert.deepEqual(marksOf({ messages: [user('One')] }), ['Be kind.', 'One']);
  assert.deepEqual(marksOf({ messages: [user('One'), assistant] }), ['Be kind.', 'Yes?']);
  // An instruction ends each request.
  const told: Message = { role: 'system', content: [text('Go on.')] };
  assert.deepEqual(
    marksOf(
      { messages: [user('One'), told, assistant, user('Two'), told] },
      { model: 'claude-opus-5' },
    ),
    ['Be kind.', 'Go on.', 'Go on.'],
  );
});

test('a prompt that is probably read once is not marked', () => {
  const once = { messages: [user('One')], tools: [] };
  assert.deepEqual(marksOf(once), []);
  assert.deepEqual(marksOf({ ...once, promptCacheKey: 'key' }), ['Be kind.', 'One']);
  const forced = { ...once, tools: base.tools };
  assert.deepEqual(marksOf({ ...forced, toolChoice: { type: 'required' } }), []);
  assert.deepEqual(marksOf({ ...forced, toolChoice: { type: 'none' } }), []);
  assert.deepEqual(marksOf({ ...forced, toolChoice: { type: 'tool', name: 'look' } }), []);
  assert.deepEqual(marksOf({ ...forced, toolChoice: { type: 'auto' } }), ['Be kind.', 'One']);
});

test('the client’s own marks win', () => {
  assert.deepEqual(marksOf({ system: [marked, text('Be kind.')] }), ['Be brief.']);
});

test('nothing is marked for hosts that cache by themselves, or where marks are switched off', () => {
  assert.deepEqual(marksOf({}, { model: 'deepseek-v4' }), []);
  assert.deepEqual(marksOf({}, { cacheableTokens: undefined }), []);
});

test('a prompt below the shortest that the model keeps is not marked', () => {
  const shortest: Record<string, number> = {
    'claude-fable-5-1': 512,
    'claude-opus-5': 512,
    'claude-sonnet-5-5': 512,
    'claude-haiku-5-5': 512,
    'claude-sonnet-5': 1_024,
    'claude-opus-4-8': 1_024,
    'claude-opus-4-7': 2_048,
    'claude-opus-4-6': 4_096,
    'claude-opus-4-5-20251101': 4_096,
    'claude-haiku-4-5': 4_096,
    'claude-sonnet-4-5': 1_024,
    'claude-opus-4-1': 1_024,
    'claude-sonnet-4-6': 1_024,
  };
  for (const [model, cacheableTokens] of Object.entries(shortest)) {
    assert.equal(marksOf({}, { model, cacheableTokens }).length, 3, model);
    const below = { model, cacheableTokens: cacheableTokens - 1 };
    assert.deepEqual(marksOf({}, below), [], model);
  }
});

test('a prompt cache key is listed only when it brings no marks', () => {
  const ignoredWith = (cacheableTokens: number) =>
    writeRequest(
      { ...base, promptCacheKey: 'key' },
      upstreamTarget({ model: 'claude-sonnet-5', cacheableTokens }),
    ).ignored;
  assert.deepEqual(ignoredWith(5_000), []);
  assert.deepEqual(ignoredWith(500), ['prompt_cache_key']);
});

test('clouds get the mark of the whole request on its last block, and no scope', () => {
  const mark = { type: 'ephemeral', ttl: '1h', scope: 'global' };
  const kept = { type: 'ephemeral', ttl: '1h' };
  const result = {
    type: 'tool_result',
    tool_use_id: 'a',
    content: [{ ...text('r'), cache_control: mark }],
  };
  const ignored = new Set<string>();
  const cloud = asCloudMarks(
    {
      cache_control: { type: 'ephemeral' },
      tools: [{ name: 't', cache_control: mark }],
      system: [{ ...text('s'), cache_control: mark }],
      messages: [
        { role: 'user', content: [result] },
        { role: 'user', content: 'Hi' },
      ],
    },
    ignored,
  );
  assert.deepEqual(cloud, {
    tools: [{ name: 't', cache_control: kept }],
    system: [{ ...text('s'), cache_control: kept }],
    messages: [
      { role: 'user', content: [{ ...result, content: [{ ...text('r'), cache_control: kept }] }] },
      { role: 'user', content: [{ ...text('Hi'), cache_control: { type: 'ephemeral' } }] },
    ],
  });
  assert.deepEqual([...ignored], ['cache_control.scope']);
  const own = { role: 'user', content: [{ ...text('Hi'), cache_control: kept }] };
  const body = { cache_control: { type: 'ephemeral' }, messages: [own] };
  assert.deepEqual(asCloudMarks(body, ignored), { messages: [own] });
  for (const messages of [[], [{ role: 'user', content: [] }], undefined])
    assert.deepEqual(asCloudMarks({ cache_control: mark, messages }, ignored), { messages });
});
