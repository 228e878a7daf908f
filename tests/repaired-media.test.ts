// Images and documents that vendors refuse as clients send them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClientFormatName } from '../src/terms/format-name.ts';
import type { JsonObject } from '../src/lib/json.ts';
import { asGemini } from './support/as-gemini.ts';
import {
  answered,
  called,
  chatMessages,
  clients,
  openAi,
  sent,
  straight,
  upstreams,
  user,
} from './support/repairs.ts';

const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const pngUrl = `data:image/png;base64,${png}`;

test('a PDF in the place of an image is sent as a document, an address alone as an image', () => {
  const pdf = 'data:application/pdf;base64,JVBERi0=';
  const source = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' };
  const document = { type: 'document', source };
  const inChat = { type: 'image_url', image_url: { url: pdf } };
  const inResponses = { type: 'input_image', image_url: pdf };
  const asked = [
    [{ client: 'chat', upstream: 'messages' }, { messages: [{ role: 'user', content: [inChat] }] }],
    [
      { client: 'responses', upstream: 'messages' },
      { input: [{ role: 'user', content: [inResponses] }] },
    ],
  ] as const;
  for (const [way, body] of asked)
    assert.deepEqual(sent(way, body).body.messages, [{ role: 'user', content: [document] }]);
  const bare = [{ role: 'user', content: [{ type: 'image_url', image_url: pngUrl }] }];
  assert.deepEqual(chatMessages(bare), [
    { role: 'user', content: [{ type: 'image_url', image_url: { url: pngUrl } }] },
  ]);
});

test('images of Chat’s tool messages follow in a user message, after all results of the turn', () => {
  const image = { type: 'image_url', image_url: { url: pngUrl } };
  const file = { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0=' } };
  const messages = [
    user,
    called('a', 'b'),
    answered('a', [{ type: 'text', text: 'shot' }, image]),
    answered('b', [file]),
    user,
  ];
  const note = '[The attachments of this result follow in the next user message.]';
  const label = (id: string) => ({
    type: 'text',
    text: `[Attachments of the result of tool call ${id}]`,
  });
  assert.deepEqual(chatMessages(messages, openAi), [
    user,
    called('a', 'b'),
    answered('a', `shot\n${note}`),
    answered('b', note),
    { role: 'user', content: [label('a'), image, label('b'), file] },
    user,
  ]);
});

test('Chat hosts get `high` for the image detail `original`, in messages and in results', () => {
  const image = { type: 'input_image', image_url: pngUrl, detail: 'original' };
  const input = [
    { role: 'user', content: [image] },
    { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: 'a', output: [image] },
  ];
  const chatImage = { type: 'image_url', image_url: { url: pngUrl, detail: 'original' } };
  const messages = [
    { role: 'user', content: [chatImage] },
    called('a'),
    answered('a', [chatImage]),
  ];
  for (const changes of [{}, openAi]) {
    const translated = sent({ client: 'responses', upstream: 'chat' }, { input }, changes).body;
    const relayed = sent(straight('chat'), { messages }, changes).body;
    for (const { messages: written } of [translated, relayed]) {
      assert.deepEqual(JSON.stringify(written).match(/"detail":"\w+"/g), [
        '"detail":"high"',
        '"detail":"high"',
      ]);
    }
  }
  assert.deepEqual(sent(straight('responses'), { input }, openAi).body.input, input);
});

const bytes = {
  'image/png': png,
  'image/jpeg': '/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAMC',
  'image/gif': 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7',
  'image/webp': 'UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==',
};
const pdf = Buffer.from('%PDF-1.7\n%âãÏÓ\n', 'latin1').toString('base64');

/** Where the wrong type and the base64 with white space stand in each client's request. */
type Media = Record<ClientFormatName, (type: string, data: string, isFile: boolean) => JsonObject>;
const media: Media = {
  gemini: (type, data, isFile): JsonObject => asGemini(media.messages(type, data, isFile)),
  chat: (type, data, isFile) => {
    const url = `data:${type};base64,${data}`;
    const part = isFile
      ? { type: 'file', file: { filename: 'a', file_data: url } }
      : { type: 'image_url', image_url: { url } };
    return { messages: [{ role: 'user', content: [part] }] };
  },
  responses: (type, data, isFile) => {
    const url = `data:${type};base64,${data}`;
    const part = isFile
      ? { type: 'input_file', filename: 'a', file_data: url }
      : { type: 'input_image', image_url: url };
    const call = { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' };
    const result = { type: 'function_call_output', call_id: 'a', output: [part] };
    return { input: [{ role: 'user', content: [part] }, call, result] };
  },
  messages: (type, data, isFile) => {
    const source = { type: 'base64', media_type: type, data };
    const part = { type: isFile ? 'document' : 'image', source };
    const call = { type: 'tool_use', id: 'a', name: 'f', input: {} };
    const result = { type: 'tool_result', tool_use_id: 'a', content: [part] };
    return {
      messages: [
        { role: 'user', content: [part] },
        { role: 'assistant', content: [call] },
        { role: 'user', content: [result] },
      ],
    };
  },
};

for (const client of clients) {
  for (const upstream of upstreams) {
    test(`${client} on ${upstream}: the type of an image or PDF is what its bytes say, without white space in the base64`, () => {
      const check = (type: string, data: string, wrong: string, isFile: boolean) => {
        const broken = `${data.slice(0, 20)}\r\n ${data.slice(20)}\n`;
        const { body } = sent({ client, upstream }, media[client](wrong, broken, isFile));
        const text = JSON.stringify(body);
        // Converse names the format instead of the type.
        const shown = upstream === 'converse' ? `"format":"${type.split('/')[1]}"` : type;
        assert.ok(text.includes(shown) && text.includes(data), text);
        assert.ok(!text.includes(wrong) && !text.includes('\\n'), text);
      };
      for (const [type, data] of Object.entries(bytes))
        check(type, data, type === 'image/png' ? 'image/jpeg' : 'image/png', false);
      check('application/pdf', pdf, 'application/octet-stream', true);
    });
  }

  test(`${client}: media of the right type keep their bytes`, () => {
    for (const [type, data, isFile] of [
      ['image/png', png, false],
      ['image/heic', 'AAAAGGZ0eXBoZWlj', false],
      ['application/pdf', pdf, true],
      ['text/plain', pdf, true],
      // The hold for an image would not cover it.
      ['application/octet-stream', pdf, false],
    ] as const) {
      const body = media[client](type, data, isFile);
      // Gemini tells images from documents by their type alone.
      if (client === 'gemini' && type === 'application/octet-stream') continue;
      const field =
        client === 'gemini' ? 'contents' : client === 'responses' ? 'input' : 'messages';
      // Later Gemini models want signatures.
      const written = sent(straight(client), body, { model: 'gemini-2.5-flash' }).body;
      assert.equal(JSON.stringify(written[field]), JSON.stringify(body[field]));
    }
  });
}
