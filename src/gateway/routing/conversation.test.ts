import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../lib/json.ts';
import { conversationOf } from './conversation.ts';

const nameOf = (body: JsonObject, fields: object = {}) =>
  conversationOf({ key: { accountId: 'acc_1' }, model: { id: 'm' }, request: { body }, ...fields });
const user = (content: unknown) => ({ role: 'user', content });
const assistant = { role: 'assistant', content: 'Yes?' };
const tools = [{ name: 'read', input_schema: { type: 'object' } }];
const mark = { cache_control: { type: 'ephemeral' } };

test('the turns of a conversation have one name', () => {
  const opening = { system: 'Be brief.', tools, messages: [user('Hello')] };
  const later: Record<string, JsonObject> = {
    'more turns': { ...opening, messages: [user('Hello'), assistant, user('More')] },
    'parts instead of a text': {
      ...opening,
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [user([{ type: 'text', text: 'Hello' }]), assistant, user('More')],
    },
    'other cache marks': {
      ...opening,
      system: [{ type: 'text', text: 'Be brief.', ...mark }],
      tools: [{ ...tools[0], ...mark }],
    },
    'another line of Claude Code about itself': {
      ...opening,
      system: [
        { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1.332.a1b;' },
        { type: 'text', text: 'Be brief.' },
      ],
    },
    'a blank part that goes with its mark': {
      ...opening,
      messages: [
        user([
          { type: 'text', text: 'Hello', ...mark },
          { type: 'text', text: ' ' },
        ]),
      ],
    },
    'another limit of output': { ...opening, max_tokens: 7 },
  };
  for (const [what, body] of Object.entries(later))
    assert.equal(nameOf(body), nameOf(opening), what);
  const item = (role: string, text: string) => ({ type: 'message', role, content: text });
  assert.equal(
    nameOf({ input: [item('developer', 'Be brief.'), item('user', 'Hello')] }),
    nameOf({
      input: [item('developer', 'Be brief.'), item('user', 'Hello'), item('user', 'More')],
    }),
  );
});

test('the client’s own id names the conversation, wherever it stands', () => {
  const hello = { messages: [user('Hello')] };
  const other = { messages: [user('Summarise.')] };
  const userId = JSON.stringify({ device_id: 'd', session_id: 's1' });
  const ids: Record<string, readonly [JsonObject, object?]> = {
    prompt_cache_key: [{ prompt_cache_key: 's1' }],
    session_id: [{ session_id: 's1' }],
    'metadata.user_id': [{ metadata: { user_id: userId } }],
    header: [{}, { sessionId: 's1' }],
  };
  for (const [what, [fields, given]] of Object.entries(ids)) {
    assert.equal(
      nameOf({ ...hello, ...fields }, given),
      nameOf({ ...other, ...fields }, given),
      what,
    );
    assert.notEqual(nameOf({ ...hello, ...fields }, given), nameOf(hello), what);
  }
});

test('accounts, models, openings and ids have names of their own', () => {
  const body = { system: 'Be brief.', messages: [user('Hello')] };
  const names = [
    nameOf(body),
    nameOf(body, { key: { accountId: 'acc_2' } }),
    nameOf(body, { model: { id: 'n' } }),
    nameOf({ ...body, system: 'Be long.' }),
    nameOf({ ...body, messages: [user('Good bye')] }),
    nameOf({ ...body, tools }),
    nameOf({ ...body, metadata: { user_id: '{not JSON' } }, { sessionId: 's1' }),
    nameOf(body, { sessionId: 's2' }),
  ];
  assert.equal(new Set(names).size, names.length);
});

test('an id that is blank or too long is none', () => {
  const body = { messages: [user('Hello')] };
  for (const id of ['', '  ', 'x'.repeat(1_001)]) {
    assert.equal(nameOf({ ...body, prompt_cache_key: id }), nameOf(body));
    assert.equal(nameOf(body, { sessionId: id }), nameOf(body));
  }
  const deep = `{"session_id":"s","a":${'['.repeat(10_000_000)}`;
  assert.equal(nameOf({ ...body, metadata: { user_id: deep } }), nameOf(body));
});

test('long instructions leave room for the first turn', () => {
  const instructions = 'Be careful. '.repeat(20_000);
  const named = ['Hello', 'Good bye'].map((text) => nameOf({ instructions, input: text }));
  assert.notEqual(named[0], named[1]);
});

test('a body of any form has a name', () => {
  for (const body of [{}, { messages: [] }, { input: 'Hello' }, { messages: [7, null, 'x'] }])
    assert.equal(nameOf(body).length, 43);
});
