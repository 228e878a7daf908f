import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import type { ChatModel, ImageModelEntry } from '../../../src/management/contract/models.ts';
import { codeLines, curlLine } from './one-line.ts';

const baseUrl = 'https://api.example';
const chat = { id: 'gpt-6-luna', context_tokens: 1 } as ChatModel;
const image = { id: 'flux-2', input_images: { min: 0, max: 0 } } as ImageModelEntry;
const edit = { id: 'flux-edit', input_images: { min: 1, max: 1 } } as ImageModelEntry;

test('the line runs in a shell and sends the model’s smallest request', () => {
  const cases = [
    [chat, '/v1/responses', { model: 'gpt-6-luna', input: 'Hello!' }],
    [image, '/v1/images/generations', { model: 'flux-2', prompt: 'A lighthouse' }],
    [
      edit,
      '/v1/images/generations',
      { model: 'flux-edit', prompt: 'A lighthouse', images: ['https://example.com/photo.jpg'] },
    ],
  ] as const;
  for (const [model, path, body] of cases) {
    const line = curlLine(model, baseUrl);
    assert.doesNotMatch(line, /\n/);
    const script = `TOLLGATE_KEY=secret\ncurl() { printf '%s\\0' "$@"; }\n${line}`;
    const words = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
    assert.equal(words[0], `${baseUrl}${path}`);
    assert.ok(words.includes('Authorization: Bearer secret'));
    assert.deepEqual(JSON.parse(words.at(-1)!), body);
  }
});

test('language models have a line for each SDK; image models only for the shell', () => {
  const languages = (model: ChatModel | ImageModelEntry) =>
    codeLines(model, baseUrl).map(({ language }) => language);
  assert.deepEqual(languages(chat), ['curl', 'Python', 'TypeScript']);
  assert.deepEqual(languages(edit), ['curl']);
  for (const { code } of codeLines(chat, baseUrl)) assert.doesNotMatch(code, /\n/);
});
