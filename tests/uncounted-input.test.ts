// No part of a request reaches a provider without being covered by the hold. Wherever a client puts
// a URL (straight path or translated, in a message or a tool result), the request is refused or
// holds the model's whole context. An image holds its vendor's maximum.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../src/canonical/errors.ts';
import type { ClientFormatName, UpstreamFormatName } from '../src/terms/format-name.ts';
import { upstreamFormats } from '../src/formats/registry.ts';
import type { JsonObject } from '../src/lib/json.ts';
import { estimateInputTokens } from '../src/lib/tokens.ts';
import fc from './support/property.ts';
import { writtenRequest } from './support/written-request.ts';

const address = 'https://films.example/a';
const kinds =
  'document_url audio_url video video_url file_url input_video file document input_file image image_url input_image input_audio ' +
  'image image_url input_image image image_url input_image hologram Video_Url VIDEO_URL text input_text reference thinking search_result computer_screenshot constructor';
const fields =
  'document_url audio_url video video_url file_url input_video file file_data file_url image_url input_audio source url data hologram ' +
  'Video_Url frames __proto__';

const shapes: readonly ((address: string) => unknown)[] = [
  (text) => text,
  (text) => ({ url: text }),
  (text) => ({ data: text, format: 'mp4' }),
  (text) => ({ file_data: text, filename: 'a.pdf' }),
  (text) => ({ type: 'url', url: text }),
  (text) => ({ type: 'content', content: [{ type: 'video_url', video_url: { url: text } }] }),
  (text) => [text],
  (text) => [{ url: text }],
];

const anyPart = fc
  .record({
    kind: fc.constantFrom(...kinds.split(' ')),
    field: fc.option(fc.constantFrom(...fields.split(' ')), { nil: null, freq: 1 }),
    shape: fc.constantFrom(...shapes),
    scheme: fc.constantFrom('https', 'HTTPS', 'gs', 's3', ' https', `${' '.repeat(40)}https`),
    hasText: fc.boolean(),
  })
  // A URL inside text is not fetched by anyone.
  .filter(({ kind, field }) => !/text|thinking/.test(field ?? kind))
  .map(({ kind, field, shape, scheme, hasText }): Part => {
    const payload = { [field ?? kind]: shape(address.replace('https', scheme)) };
    return { type: kind, ...(hasText && { text: 'x' }), ...payload };
  });

type Part = { readonly type: string } & Readonly<Record<string, unknown>>;

/** Every position of a part, by client format. */
const places: Readonly<Record<ClientFormatName, readonly ((part: Part) => object)[]>> = {
  chat: [
    (part) => ({ messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }, part] }] }),
    (part) => ({ messages: [{ role: 'tool', tool_call_id: 'c', content: [part] }] }),
    (part) => ({ messages: [{ role: 'assistant', content: 'x', images: [part] }] }),
    (part) => ({ messages: [{ role: 'user', content: 'x', [part.type]: part[part.type] }] }),
  ],
  responses: [
    (part) => ({ input: [{ role: 'user', content: [part] }] }),
    (part) => ({ input: [{ type: 'function_call_output', call_id: 'c', output: [part] }] }),
    (part) => ({ input: [{ type: 'computer_call_output', call_id: 'c', output: part }] }),
    (part) => ({ input: [part] }),
  ],
  messages: [
    (part) => ({ messages: [{ role: 'user', content: [part] }] }),
    (part) => ({
      messages: [
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: [part] }] },
      ],
    }),
    (part) => ({
      messages: [
        {
          role: 'user',
          content: [{ type: 'document', source: { type: 'content', content: [part] } }],
        },
      ],
    }),
    (part) => ({ system: [part], messages: [{ role: 'user', content: 'x' }] }),
  ],
  // Its media have places of their own, which the last two fill.
  gemini: [
    (part) => ({ contents: [{ role: 'user', parts: [part] }] }),
    (part) => ({ contents: [{ role: 'user', parts: [{ inlineData: part }] }] }),
    () => ({ contents: [{ role: 'user', parts: [{ fileData: { fileUri: address } }] }] }),
    () => ({
      contents: [
        { role: 'user', parts: [{ fileData: { fileUri: address, mimeType: 'application/pdf' } }] },
      ],
    }),
  ],
};

const anyRequest = fc.record({
  client: fc.constantFrom(...(Object.keys(places) as ClientFormatName[])),
  upstream: fc.constantFrom(...(Object.keys(upstreamFormats) as UpstreamFormatName[])),
  place: fc.nat(3),
  part: anyPart,
});

test('a part with a URL is refused, or its hold covers the whole context', () => {
  const counts = { refused: 0, images: 0, whole: 0 };
  fc.assert(
    fc.property(anyRequest, ({ client, upstream, place, part }) => {
      const body = { model: 'm', max_tokens: 100, ...places[client][place]!(part) };
      const sent = write(client, upstream, body);
      if (sent === null || !reaches(sent)) return void counts.refused++;
      const { upper } = estimateInputTokens(body);
      const isImage = ['image', 'image_url', 'input_image', 'computer_screenshot'].includes(
        part.type,
      );
      counts[isImage ? 'images' : 'whole']++;
      assert.ok(
        upper >= (isImage ? 12_000 : 100_000_000),
        `${client} to ${upstream}: ${JSON.stringify(body)} holds ${upper}`,
      );
    }),
    { numRuns: 8_000 },
  );
  for (const [what, count] of Object.entries(counts)) assert.ok(count > 0, `${what}: ${count}`);
});

/** What is sent upstream; null: the request is refused. */
function write(client: ClientFormatName, upstream: UpstreamFormatName, body: object): unknown {
  try {
    return writtenRequest({ client, upstream }, body as JsonObject).body;
  } catch (error) {
    assert.ok(error instanceof ApiError && error.status === 400, String(error));
    return null;
  }
}

function reaches(sent: unknown): boolean {
  if (typeof sent === 'string') return sent.toLowerCase().includes('://films.example/a');
  if (typeof sent !== 'object' || sent === null) return false;
  return Object.values(sent).some(reaches);
}
