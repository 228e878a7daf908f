import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { codeSamples } from './code-samples.ts';
import { chatFormats, type Json } from '../../api/chat-formats.ts';

const baseUrl = 'https://api.example';
const ask = {
  model: 'gpt-5-mini',
  messages: [
    { role: 'user', text: `It's "quoted" \\ and\nbroken, with $HOME and \`ticks\` and ünï – 日本` },
    { role: 'assistant', text: 'Yes.' },
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
} as const;
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
  ]),
  ['/v1/images/generations', image],
];

for (const [path, body] of requests) {
  const samples = codeSamples({ baseUrl, path, body });
  const codeIn = (language: string) => samples.find((sample) => sample.language === language)!.code;

  describe(`${path}${body['stream'] ? ', streamed' : ''}`, () => {
    test('the shell passes the unchanged body to curl', () => {
      const script = `API_KEY=secret\ncurl() { printf '%s\\0' "$@"; }\n${codeIn('curl')}`;
      const words = execFileSync('sh', ['-c', script], { encoding: 'utf8' })
        .split('\0')
        .slice(0, -1);
      assert.deepEqual(JSON.parse(words.at(-1)!), body);
      assert.ok(words.includes(`${baseUrl}${path}`));
      assert.ok(words.includes('Authorization: Bearer secret'));
    });

    test('the TypeScript sample calls the SDK with the body', () => {
      const [, argument] = /= await client\.[\w.]+\((\{[^]*?\n\})(?: as \S+)?\);/.exec(
        codeIn('TypeScript'),
      )!;
      const value: unknown = runInNewContext(`(${argument})`);
      assert.deepEqual(JSON.parse(JSON.stringify(value)), body);
    });

    test('the Python sample calls the SDK with the body', () => {
      const [, argumentsText] = /= client\.[\w.]+\(\n([^]*?)\n\)/.exec(codeIn('Python'))!;
      const object = argumentsText!
        .replaceAll(/^ {4}(\w+)=/gm, '$1: ')
        .replaceAll(/\bTrue\b/g, 'true');
      const { extra_body: extra, ...rest } = runInNewContext(`({${object}})`) as Record<
        string,
        unknown
      >;
      assert.deepEqual(JSON.parse(JSON.stringify({ ...rest, ...(extra as object) })), body);
    });
  });
}
