import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { inPublicForm, inSdkForm } from '../../../api/chat-formats/gemini.ts';
import { codeSamples } from './code-samples.ts';
import { chatFormats } from '../../../api/chat-formats/registry.ts';
import type { ChatRequest, Json } from '../../../api/chat-formats/types.ts';

const baseUrl = 'https://api.example';
const ask: ChatRequest = {
  model: 'gpt-6-luna',
  messages: [
    { role: 'user', text: `It's "quoted" \\ and\nbroken, with $HOME and \`ticks\` and ünï – 日本` },
    { role: 'assistant', format: 'chat', text: 'Yes.', calls: [], echo: [] },
    {
      role: 'user',
      text: 'A rather long question, so that the line is too long to stand on one line of its own here.',
    },
  ],
  system: 'Be brief.',
  maxTokens: 200,
  temperature: 0.5,
  effort: 'low',
  stream: true,
  tools: [
    {
      name: 'get_weather',
      description: "The city's weather.",
      parameters: { type: 'object', properties: { 'the-city': { type: 'string' } } },
    },
  ],
  toolChoice: { name: 'get_weather' },
  schema: { name: 'answer', schema: { type: 'object' }, strict: true },
};
const files = [
  { name: "it's $HOME.png", data: Buffer.from('picture `x` $y').toString('base64') },
  { name: 'report.pdf', data: Buffer.alloc(3_000, 'pdf').toString('base64') },
];
const withFiles: ChatRequest = {
  ...ask,
  messages: [
    {
      role: 'user',
      text: 'What does $HOME cost? `id`',
      attachments: [
        { kind: 'image', mediaType: 'image/png', ...files[0]! },
        { kind: 'pdf', mediaType: 'application/pdf', ...files[1]! },
        { kind: 'text', name: 'a.txt', text: "It's \\ text" },
      ],
    },
  ],
};
const image = {
  model: 'flux-2',
  prompt: "A cat's hat",
  aspect_ratio: '1:1',
  resolution: '1k',
  n: 2,
};
const requests: (readonly [path: string, body: Json])[] = [
  ...Object.values(chatFormats).flatMap((format) => [
    [format.path, format.writeBody(ask)] as const,
    [format.path, format.writeBody({ ...ask, stream: false, system: '' })] as const,
    [format.path, format.writeBody(withFiles)] as const,
  ]),
  ['/v1/images/generations', image],
];

for (const [path, body] of requests) {
  const samples = codeSamples({ baseUrl, path, body, files });
  const codeIn = (language: string) => samples.find((sample) => sample.language === language)!.code;

  const hasFiles = JSON.stringify(body).includes(files[1]!.data);
  const readFile = (name: string) => files.find((file) => file.name === name)!.data;

  describe(`${path}${body['stream'] ? ', streamed' : ''}${hasFiles ? ', with files' : ''}`, () => {
    test('no sample contains a file', { skip: !hasFiles }, () => {
      for (const { code } of samples) {
        assert.ok(!code.includes(files[1]!.data.slice(0, 100)));
        assert.ok(code.includes('report.pdf'));
      }
    });

    test('the shell passes the unchanged body to curl', () => {
      const folder = mkdtempSync(join(tmpdir(), 'tollgate-samples-'));
      for (const { name, data } of files)
        writeFileSync(join(folder, name), Buffer.from(data, 'base64'));
      const print = hasFiles ? '; cat' : '';
      const script = `TOLLGATE_KEY=secret\ncurl() { printf '%s\\0' "$@"${print}; }\n${codeIn('curl')}`;
      const words = execFileSync('sh', ['-c', script], { encoding: 'utf8', cwd: folder }).split(
        '\0',
      );
      rmSync(folder, { recursive: true });
      const sent = inPublicForm({ path, body });
      assert.deepEqual(JSON.parse(words.at(hasFiles ? -1 : -2)!), sent.body);
      assert.ok(words.includes(`${baseUrl}${sent.path}`));
      assert.ok(words.includes('Authorization: Bearer secret'));
    });

    test('the TypeScript sample calls the SDK with the body', () => {
      const [, argument] = /= await client\.[\w.]+\((\{[^]*?\n\})(?: as \S+)?\);/.exec(
        codeIn('TypeScript'),
      )!;
      const value: unknown = runInNewContext(`(${argument})`, { readFile });
      assert.deepEqual(JSON.parse(JSON.stringify(value)), inSdkForm({ path, body }));
    });

    test('the Python sample calls the SDK with the body', () => {
      const [, argumentsText] = /= client\.[\w.]+\(\n([^]*?)\n\)/.exec(codeIn('Python'))!;
      const object = argumentsText!
        .replaceAll(/^ {4}(\w+)=/gm, '$1: ')
        .replaceAll(/\bTrue\b/g, 'true');
      const { extra_body: extra, ...rest } = runInNewContext(`({${object}})`, {
        read_file: readFile,
      }) as Record<string, unknown>;
      assert.deepEqual(
        JSON.parse(JSON.stringify({ ...rest, ...(extra as object) })),
        inSdkForm({ path, body }),
      );
    });
  });
}

test('models of other types have a sample for curl, with a form for a file', () => {
  const of = (path: string, body: Json) => codeSamples({ baseUrl, path, body, files: [] });
  const [embeddings, ...others] = of('/v1/embeddings', { model: 'm', input: ["it's"] });
  assert.deepEqual(others, []);
  assert.match(embeddings!.code, /"input"/);
  const body = { model: 'm', prompt: "it's", file: '@a.mp3' };
  assert.equal(
    of('/v1/audio/transcriptions', body)[0]!.code,
    [
      'curl https://api.example/v1/audio/transcriptions',
      '-H "Authorization: Bearer $TOLLGATE_KEY"',
      "-F 'model=m'",
      `-F 'prompt=it'\\''s'`,
      "-F 'file=@a.mp3'",
    ].join(' \\\n  '),
  );
});
