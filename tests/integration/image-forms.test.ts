// `POST /v1/images/edits` as a form, the way OpenAI's clients send it.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { gif, png } from '../support/images/local-image-provider.ts';
import type { Reply } from '../support/http.ts';
import { generations, prompt, startImageGateway, urlsOf } from '../support/image-gateway.ts';
import { inputs } from '../support/image-upstreams.ts';

const { gateway, newKey, assertCharged, assertFree } = await startImageGateway();
after(() => gateway.stop());

const edits = '/v1/images/edits';

describe('edits as a form', () => {
  type Part = readonly [name: string, value: string | Blob, fileName?: string];
  const pngFile = new Blob([png], { type: 'image/png' });
  const gifFile = new Blob([gif], { type: 'application/octet-stream' });
  const asked: readonly Part[] = [
    ['model', 'gpt-image-sunburst-reference'],
    ['prompt', prompt],
  ];

  async function sendForm(
    key: string,
    parts: readonly Part[],
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Reply> {
    const form = new FormData();
    for (const [name, value, fileName] of parts) {
      if (typeof value === 'string') form.append(name, value);
      else form.append(name, value, fileName ?? 'file');
    }
    const encoded = new Response(form);
    const body = Buffer.from(await encoded.clone().arrayBuffer());
    return gateway.post(edits, {
      key,
      headers: { 'content-type': encoded.headers.get('content-type')!, ...headers },
      body,
    });
  }

  test("a model's plain id runs its edit variant at that variant's price", async () => {
    const [file, url]: Part[] = [
      ['image', pngFile, 'a.png'],
      ['image', inputs[0]!],
    ];
    const run = async (model: string, images: readonly Part[]) => {
      const { key } = await newKey();
      const reply = await sendForm(key, [
        ['model', model],
        ['prompt', prompt],
        ['size', '512x512'],
        ...images,
      ]);
      assert.equal(reply.status, 200, reply.text);
      return { ran: reply.json()['model'], costMicros: reply.costMicros };
    };
    const siblings: [plain: string, sibling: string, images: Part[]][] = [
      ['gpt-image-flare', 'gpt-image-flare-edit', [file!]],
      ['openai/gpt-image-flare-2026-11-20', 'gpt-image-flare-edit', [url!]],
      ['gpt-image-sunburst', 'gpt-image-sunburst-reference', [file!, url!]],
      ['flux-2', 'flux-2-edit', [file!]],
      ['flux-2', 'flux-2-reference', [file!, url!]],
    ];
    for (const [plain, sibling, images] of siblings) {
      const asSibling = await run(sibling, images);
      assert.equal(asSibling.ran, sibling);
      assert.deepEqual(await run(plain, images), asSibling);
    }
    const json = { model: 'gpt-image-flare', prompt, images: [inputs[0]!] };
    const { key } = await newKey();
    assert.equal(
      (await gateway.post(edits, { key, body: json })).json()['model'],
      'gpt-image-flare-edit',
    );
    assert.match(
      (await gateway.post(generations, { key, body: json })).error.message,
      /must be left out for gpt-image-flare,/,
    );
    assert.match(
      (await gateway.post(edits, { key, body: { ...json, images: [] } })).error.message,
      /is required: exactly 1 image to edit for gpt-image-flare-edit/,
    );
    const { key: plain } = await newKey({ models: ['gpt-image-flare'] });
    assert.equal(
      (await gateway.post(edits, { key: plain, body: json })).error.code,
      'model_not_allowed_for_key',
    );
  });

  test('a form with two files equals the same request as JSON', async () => {
    const fields: readonly Part[] = [...asked, ['n', '2'], ['size', '512x512'], ['quality', 'low']];
    const images: readonly Part[] = [
      ['image[]', pngFile, 'a.png'],
      ['image[]', gifFile, 'b.bin'],
    ];
    const json = {
      model: 'gpt-image-sunburst-reference',
      prompt,
      n: 2,
      size: '512x512',
      quality: 'low',
      images: inputs,
    };
    const owners = [await newKey(), await newKey()] as const;
    const first = gateway.upstream.requests.length;
    const replies = [
      await sendForm(owners[0].key, [...fields, ...images]),
      await gateway.post(edits, { key: owners[1].key, body: json }),
    ];
    // Low quality, and two inputs for each: 0.006 + 2 × 0.01.
    for (const [index, reply] of replies.entries()) {
      await assertCharged(reply, { ...owners[index]!, images: 2, micros: 2 * 39_000 });
    }
    const sent = gateway.upstream.requests
      .slice(first)
      .map(({ body }) => String(body).replaceAll(/-{2,}[\w-]+/g, '--boundary'));
    assert.equal(sent.length, 2);
    assert.equal(sent[0], sent[1]);
    assert.match(sent[0]!, /filename="image-2\.gif"\r\ncontent-type: image\/gif/);
  });

  test('under an Idempotency-Key another form boundary is the same request', async () => {
    const { key } = await newKey();
    const headers = { 'idempotency-key': 'form' };
    const parts: readonly Part[] = [...asked, ['image', pngFile]];
    const [first, again] = [
      await sendForm(key, parts, headers),
      await sendForm(key, parts, headers),
    ];
    assert.deepEqual([urlsOf(again), again.costMicros], [urlsOf(first), 0]);
  });

  const refusals: [what: string, parts: readonly Part[], param: string | null, message: RegExp][] =
    [
      [
        'a mask that is no image',
        [...asked, ['image', pngFile], ['mask', new Blob(['<svg/>'], { type: 'image/png' })]],
        'mask',
        /mask is not a PNG/,
      ],
      ['no image', asked, 'images', /images is required/],
      [
        'a file that is no image',
        [...asked, ['image', new Blob(['<svg/>'], { type: 'image/png' })]],
        'image',
        /image 1 of the form/,
      ],
      [
        'a file under another name',
        [...asked, ['image', pngFile], ['photo', pngFile]],
        'photo',
        /must be text/,
      ],
      ['a field given twice', [...asked, ['n', '1'], ['n', '2'], ['image', pngFile]], 'n', /twice/],
      ['an invalid number', [...asked, ['n', 'many'], ['image', pngFile]], 'n', /n/],
      [
        'a private address',
        [...asked, ['image', 'http://127.0.0.1/a.png']],
        'images[0]',
        /public address/,
      ],
      [
        'more images than the sibling takes, where no other takes more',
        [
          ['model', 'gpt-image-flare'],
          ['prompt', prompt],
          ['image', pngFile],
          ['image', pngFile],
        ],
        'images',
        /exactly 1 image to edit for gpt-image-flare-edit/,
      ],
    ];
  test('refused forms', async () => {
    const owner = await newKey();
    for (const [what, parts, param, message] of refusals) {
      const reply = await sendForm(owner.key, parts);
      assert.deepEqual([reply.status, reply.error.param], [400, param], `${what}: ${reply.text}`);
      assert.match(reply.error.message, message, what);
    }
    await assertFree(owner);
  });

  test('a form of 480,000 empty files is refused by the number of its parts, free', async () => {
    const owner = await newKey();
    const part = '--b\r\nContent-Disposition: form-data; name="a"; filename="b"\r\n\r\n\r\n';
    const reply = await gateway.post(edits, {
      key: owner.key,
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
      body: Buffer.from(`${part.repeat(480_000)}--b--`),
    });
    assert.deepEqual([reply.status, reply.error.code], [400, 'invalid_request'], reply.text);
    assert.match(reply.error.message, /more than 100 parts/);
    await assertFree(owner);
  });

  test('a malformed form is a 400, and neither form nor JSON a 415', async () => {
    const owner = await newKey();
    const typed = (contentType: string, body: string) =>
      gateway.post(edits, { key: owner.key, headers: { 'content-type': contentType }, body });
    const malformed: [contentType: string, body: string][] = [
      ['multipart/form-data; boundary=x', '--y\r\n\r\n--y--'],
      [
        'multipart/form-data; boundary=x',
        '--x\r\ncontent-disposition: form-data; name="model"\r\n\r\nflux-2-edit',
      ],
      ['multipart/form-data; boundary=x', ''],
      ['multipart/form-data; charset=utf-8', '--x--'],
    ];
    for (const [contentType, body] of malformed) {
      const reply = await typed(contentType, body);
      assert.deepEqual(
        [reply.status, reply.error.code],
        [400, 'invalid_request'],
        `${contentType} ${body}: ${reply.text}`,
      );
    }
    for (const contentType of ['text/plain', 'multipart/mixed; boundary=x'])
      assert.equal((await typed(contentType, 'x')).status, 415);
    const form = await gateway.post(generations, {
      key: owner.key,
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
      body: '--x--',
    });
    assert.equal(form.status, 415, 'generations take JSON alone');
    await assertFree(owner);
  });
});
