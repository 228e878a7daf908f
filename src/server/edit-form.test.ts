import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../canonical/errors.ts';
import type { FormPart } from '../domain/images/edit-form.ts';
import { tryToBeQuick } from '../../tests/support/cpu-time.ts';
import fc from '../../tests/support/property.ts';
import { readForm } from './edit-form.ts';

const formOf = (boundary: string, parts: readonly (readonly [head: string, body: string])[]) =>
  Buffer.from(
    parts.map(([head, body]) => `--${boundary}\r\n${head}\r\n\r\n${body}\r\n`).join('') +
      `--${boundary}--\r\n`,
  );
const typeOf = (boundary: string) => `multipart/form-data; boundary=${boundary}`;
const named = (name: string) => `Content-Disposition: form-data; name="${name}"`;
const file = (name: string, bytes: string): FormPart => ({
  name,
  kind: 'file',
  bytes: Buffer.from(bytes),
});

async function refusalOf(bytes: Buffer, contentType = typeOf('b')): Promise<string> {
  try {
    await readForm(bytes, contentType);
  } catch (error) {
    assert.ok(error instanceof ApiError && error.code === 'invalid_request', String(error));
    return error.message;
  }
  return assert.fail('the form was accepted');
}

test('names, file names and texts may be quoted, plain or UTF-8', async () => {
  const form = formOf('b', [
    ['content-disposition:form-data;name=model', 'gpt-image'],
    [`${named('prompt')}\r\nContent-Type: text/plain; charset=utf-8`, 'ein Bär\r\n--no boundary'],
    [`${named('image[]')}; filename="bär \\"1\\"; x.png"\r\nContent-Type: image/png`, 'one'],
    [`${named('image[]')}; filename*=UTF-8''b%C3%A4r.png`, 'two'],
    [`${named('image[]')}; filename*=nonsense''%E4; filename=""`, ''],
    [`FOLLOWS: x\r\nContent-Disposition: FORM-DATA; name="mask"; filename=x`, 'three'],
  ]);
  for (const type of [typeOf('b'), 'multipart/form-data; charset=utf-8; boundary="b"'])
    assert.deepEqual(await readForm(form, type), [
      { name: 'model', kind: 'text', text: 'gpt-image' },
      { name: 'prompt', kind: 'text', text: 'ein Bär\r\n--no boundary' },
      file('image[]', 'one'),
      file('image[]', 'two'),
      file('image[]', ''),
      file('mask', 'three'),
    ]);
});

const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  // Content that almost ends the part.
  fc
    .array(fc.constantFrom('\r', '\n', '--', 'formdata', '-', 'x', '\r\n--'), { maxLength: 30 })
    .map((pieces) => Buffer.from(pieces.join(''))),
);
const fileName = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 });
const sentParts = fc.array(
  fc.record({
    name: fc.constantFrom('image', 'image[]', 'mask', 'prompt', 'n', 'é'),
    value: fc.oneof(fc.string({ unit: 'grapheme' }), fc.record({ bytes, fileName })),
  }),
  { minLength: 1, maxLength: 20 },
);

test('property: a form of any texts, files and file names is read as it was sent', async () => {
  await fc.assert(
    fc.asyncProperty(sentParts, async (sent) => {
      const form = new FormData();
      const expected: FormPart[] = [];
      for (const { name, value } of sent) {
        if (typeof value === 'string') {
          form.append(name, value);
          // A form's line ends are always CRLF.
          const text = value.replaceAll(/\r\n|\r|\n/g, '\r\n').replace(/^\u{FEFF}/u, '');
          expected.push({ name, kind: 'text', text });
        } else {
          const content = Buffer.from(value.bytes);
          form.append(name, new Blob([content]), value.fileName);
          expected.push({ name, kind: 'file', bytes: content });
        }
      }
      const response = new Response(form);
      const contentType = response.headers.get('content-type')!;
      const body = Buffer.from(await response.arrayBuffer());
      assert.deepEqual(await readForm(body, contentType), expected);
    }),
  );
});

test('a form may have 100 parts and no more', async () => {
  const part = (_: unknown, index: number) => [named(`a${index}`), ''] as const;
  const parts = (count: number) => formOf('b', Array.from({ length: count }, part));
  assert.equal((await readForm(parts(100), typeOf('b'))).length, 100);
  assert.match(await refusalOf(parts(101)), /more than 100 parts/);
});

test('names, headers of parts and the boundary have a longest length, which the refusal names', async () => {
  assert.equal(
    (await readForm(formOf('b', [[named('a'.repeat(100)), '']]), typeOf('b'))).length,
    1,
  );
  assert.match(await refusalOf(formOf('b', [[named('a'.repeat(101)), '']])), /1 to 100 characters/);
  const padded = `${named('a')}\r\nX: ${'x'.repeat(4_096)}`;
  assert.match(await refusalOf(formOf('b', [[padded, '']])), /headers within 4096 bytes/);
  const long = 'b'.repeat(71);
  assert.match(
    await refusalOf(formOf(long, [[named('a'), '']]), typeOf(long)),
    /1 to 70 characters/,
  );
});

test('a part that cannot be understood is refused instead of being left out', async () => {
  const wrong: [head: string, body: string | Buffer][] = [
    ['Content-Type: text/plain', 'no name'],
    ['Content-Disposition: attachment; name="a"', 'no form-data'],
    ['Content-Disposition: form-data', 'no name'],
    [named(''), 'an empty name'],
    ['no headers', 'but text'],
  ];
  for (const [head, body] of wrong)
    assert.match(await refusalOf(formOf('b', [[head, String(body)]])), /each part must have/, head);
  const latin1 = Buffer.from(`--b\r\n${named('a')}\r\n\r\nb\xe4r\r\n--b--`, 'latin1');
  assert.match(await refusalOf(latin1), /not UTF-8/);
  const latin1Name = Buffer.from(`--b\r\n${named('b\xe4r')}\r\n\r\n\r\n--b--`, 'latin1');
  assert.match(await refusalOf(latin1Name), /not UTF-8/);
});

test('the name of a file may be in another encoding', async () => {
  const head = `${named('image')}; filename="b\xe4r.png"`;
  const form = Buffer.from(`--b\r\n${head}\r\n\r\none\r\n--b--`, 'latin1');
  assert.deepEqual(await readForm(form, typeOf('b')), [file('image', 'one')]);
});

test('a form that breaks off, or has another boundary, is refused with the line that it lacks', async () => {
  const cut = `--b\r\n${named('a')}\r\n\r\none\r\n--b`;
  for (const text of ['', cut, `${cut}-`, cut.slice(0, -2), `${cut}--`.replaceAll('--b', '--c')])
    assert.match(await refusalOf(Buffer.from(text)), /closing line `--b--` is missing/, text);
});

test('a boundary is found wherever the form is cut to be searched', async () => {
  const lengths = Array.from({ length: 160 }, (_, index) => 256 * 1024 - 150 + index);
  for (const length of lengths) {
    const text = 'x'.repeat(length);
    const parts = await readForm(
      formOf('b', [
        [named('a'), text],
        [named('b'), ''],
      ]),
      typeOf('b'),
    );
    assert.deepEqual(
      parts.map((part) => part.kind === 'text' && part.text.length),
      [length, 0],
    );
  }
});

async function cpuMsOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

test('no form of 31 MB takes much longer than JSON of that size', async () => {
  const size = 31_000_000;
  const fill = (text: string) => text.repeat(Math.floor(size / text.length));
  const json = JSON.stringify([fill('x{"a":1},')]);
  const long = 'b'.repeat(70);
  const begin = `--${long}\r\n${named('a')}\r\n\r\n`;
  const worst: Readonly<Record<string, [body: string, boundary?: string]>> = {
    'empty files': [fill(`--b\r\n${named('a')}; filename="b"\r\n\r\n\r\n`)],
    'headers of one part': [`--b\r\n${named('a')}\r\n${fill('a: b\r\n')}\r\n\r\n--b--`],
    'almost boundaries': [begin + fill(`\r\n--${long.slice(1)}`), long],
    'almost boundaries from their end': [begin + fill(`${long}\r\n-`), long],
    'line ends': [`--b\r\n${named('a')}\r\n\r\n${fill('\r\n')}\r\n--b--`],
    'a preamble': [fill('x\r\n')],
    'parameters in each of 100 parts': [
      `--b\r\n${named('a')}${fill(';a=" ; "; b ').slice(0, 4_000)}\r\n\r\n\r\n`.repeat(100),
    ],
    'open quotes in each of 100 parts': [
      `--b\r\n${named('a')}${fill('; a="\\" b').slice(0, 4_000)}\r\n\r\n\r\n`.repeat(100),
    ],
  };
  for (const [what, [body, boundary = 'b']] of Object.entries(worst)) {
    const form = Buffer.from(body);
    const { isQuick, tookMs, maxMs } = await tryToBeQuick(json, () =>
      cpuMsOf(() => readForm(form, typeOf(boundary)).catch(() => {})),
    );
    assert.ok(isQuick, `${what}: ${tookMs} of ${maxMs} ms of CPU`);
  }
});
