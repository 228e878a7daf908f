// Whatever order a client's conversation is in, every vendor gets calls and results as it demands,
// on the straight path and in translation. A conversation that is in order stays as it is.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClientFormatName, UpstreamFormatName } from '../src/terms/format-name.ts';
import type { JsonObject } from '../src/lib/json.ts';
import { findMistralBreaches, findOrderBreaches } from './support/call-order.ts';
import { record } from './support/plain-record.ts';
import fc from './support/property.ts';
import { asGemini } from './support/as-gemini.ts';
import { writtenRequest } from './support/written-request.ts';

/** One thing that happens in a conversation. Ids are few, so that they repeat and get lost. */
type Happening =
  | { readonly kind: 'user' | 'system' | 'answer'; readonly text: string }
  | { readonly kind: 'calls'; readonly ids: readonly string[]; readonly text: string }
  | { readonly kind: 'result'; readonly id: string; readonly hasImage: boolean };

const id = fc.constantFrom('call_a', 'call_b', 'call_c', 'call_d');
const text = fc.constantFrom('', ' ', 'word');
const happening: fc.Arbitrary<Happening> = fc.oneof(
  record({ kind: fc.constantFrom('user' as const, 'system' as const, 'answer' as const), text }),
  record({ kind: fc.constant('calls' as const), ids: fc.uniqueArray(id, { minLength: 1 }), text }),
  record({ kind: fc.constant('result' as const), id, hasImage: fc.boolean() }),
);
const opening: Happening = { kind: 'user', text: 'Hello' };
const conversations = fc.array(happening, { maxLength: 12 }).map((rest): readonly Happening[] =>
  // An answer at the end is a prefill, which some vendors refuse.
  rest.at(-1)?.kind === 'answer' ? [opening, ...rest, opening] : [opening, ...rest],
);

const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const pngUrl = `data:image/png;base64,${png}`;

type Bodies = Record<ClientFormatName, (conversation: readonly Happening[]) => JsonObject>;
const bodies: Bodies = {
  chat: (conversation) => ({
    model: 'm',
    messages: conversation.map((entry) => {
      switch (entry.kind) {
        case 'answer':
          return { role: 'assistant', content: entry.text };
        case 'calls':
          return {
            role: 'assistant',
            content: entry.text,
            tool_calls: entry.ids.map((callId) => ({
              id: callId,
              type: 'function',
              function: { name: 'f', arguments: '{}' },
            })),
          };
        case 'result':
          return { role: 'tool', tool_call_id: entry.id, content: chatResult(entry.hasImage) };
        default:
          return { role: entry.kind, content: entry.text };
      }
    }),
  }),
  messages: (conversation) => ({
    model: 'm',
    max_tokens: 99,
    messages: conversation.map((entry) => {
      switch (entry.kind) {
        case 'calls': {
          const calls = entry.ids.map((callId) => ({
            type: 'tool_use',
            id: callId,
            name: 'f',
            input: {},
          }));
          return {
            role: 'assistant',
            content: entry.text ? [{ type: 'text', text: entry.text }, ...calls] : calls,
          };
        }
        case 'result': {
          const image = { type: 'base64', media_type: 'image/png', data: png };
          const content = entry.hasImage ? [{ type: 'image', source: image }] : 'done';
          return {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: entry.id, content }],
          };
        }
        default:
          return { role: entry.kind === 'answer' ? 'assistant' : 'user', content: entry.text };
      }
    }),
  }),
  gemini: (conversation): JsonObject => asGemini(bodies.messages(conversation)),
  responses: (conversation) => ({
    model: 'm',
    input: conversation.flatMap((entry): object[] => {
      switch (entry.kind) {
        case 'calls':
          return entry.ids.map((callId) => ({
            type: 'function_call',
            call_id: callId,
            name: 'f',
            arguments: '{}',
          }));
        case 'result': {
          const output = entry.hasImage ? [{ type: 'input_image', image_url: pngUrl }] : 'done';
          return [{ type: 'function_call_output', call_id: entry.id, output }];
        }
        default:
          return [
            { role: entry.kind === 'answer' ? 'assistant' : entry.kind, content: entry.text },
          ];
      }
    }),
  }),
};

function conversationField(client: ClientFormatName): string {
  if (client === 'gemini') return 'contents';
  return client === 'responses' ? 'input' : 'messages';
}

function chatResult(hasImage: boolean): string | object[] {
  if (!hasImage) return 'done';
  return [
    { type: 'text', text: 'see' },
    { type: 'image_url', image_url: { url: pngUrl } },
  ];
}

const clients = Object.keys(bodies) as ClientFormatName[];
const upstreams: readonly UpstreamFormatName[] = [
  'chat',
  'messages',
  'responses',
  'gemini',
  'converse',
];

for (const client of clients) {
  for (const upstream of upstreams) {
    test(`any conversation of ${client} keeps the rules of ${upstream}`, () => {
      fc.assert(
        fc.property(conversations, (conversation) => {
          const { body } = writtenRequest({ client, upstream }, bodies[client](conversation));
          assert.deepEqual(findOrderBreaches(upstream, body), [], JSON.stringify(body));
        }),
        { numRuns: 300 },
      );
    });
  }

  test(`any conversation of ${client} keeps Mistral's table of roles`, () => {
    fc.assert(
      fc.property(conversations, (conversation) => {
        const way = { client, upstream: 'chat' as const };
        const { body } = writtenRequest(way, bodies[client](conversation), {
          model: 'mistral-large-latest',
        });
        assert.deepEqual(findOrderBreaches('chat', body), []);
        assert.deepEqual(findMistralBreaches(body), [], JSON.stringify(body));
      }),
      { numRuns: 300 },
    );
  });

  test(`a conversation of ${client} that is in order is sent as it came`, () => {
    const body = bodies[client]([
      opening,
      { kind: 'calls', ids: ['call_a', 'call_b'], text: 'Let me see.' },
      { kind: 'result', id: 'call_b', hasImage: false },
      { kind: 'result', id: 'call_a', hasImage: false },
      { kind: 'user', text: 'And?' },
      { kind: 'answer', text: 'Fine.' },
      { kind: 'user', text: 'Good.' },
    ]);
    const field = conversationField(client);
    // Later ones want signatures.
    const changes = { model: 'gemini-2.5-flash' };
    const sent = writtenRequest({ client, upstream: client }, body, changes).body;
    assert.equal(JSON.stringify(sent[field]), JSON.stringify(body[field]));
  });
}
