import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { estimateInputTokens, tokensFromBytes, utf8Length } from './tokens.ts';

const upperOf = (text: string) => estimateInputTokens({ input: text }).upper;

test('the upper estimate is never below our own count', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (body) => {
      const { upper, likely } = estimateInputTokens(body);
      assert.ok(upper >= likely, `${upper} < ${likely}`);
    }),
  );
});

test('the upper estimate stays above what real tokenizers measured', () => {
  // Bytes a token (o200k): hex 1.75, base64 1.46, numbers 2.2, English 4.4.
  const cases = [
    { text: '3f9a7c01b2'.repeat(200), bytesPerToken: 1.75 },
    { text: 'QUJDRGVmZ2hpSktMbW5vUHFyc3R1dg'.repeat(60), bytesPerToken: 1.46 },
    { text: '12345 67890 '.repeat(100), bytesPerToken: 2.2 },
    { text: 'The quick brown fox jumps over the lazy dog. '.repeat(40), bytesPerToken: 4.4 },
    { text: '日本語のテキストです。'.repeat(40), bytesPerToken: 3 },
    { text: '🙂🎉'.repeat(100), bytesPerToken: 1.5 },
  ];
  for (const { text, bytesPerToken } of cases) assert.ok(upperOf(text) >= utf8Length(text) / bytesPerToken, text.slice(0, 20));
});

test('hostile input takes one pass', () => {
  const started = process.hrtime.bigint();
  const small = upperOf('a'.repeat(200_000));
  assert.ok(small >= 200_000 && small < 250_000);
  const once = Number(process.hrtime.bigint() - started);
  const again = process.hrtime.bigint();
  upperOf('a'.repeat(2_000_000));
  assert.ok(
    Number(process.hrtime.bigint() - again) < Math.max(once, 1_000_000) * 100,
    'the time grows with the length, not its square',
  );
});

test('an image counts by formula, not by its bytes; text hidden beside it still counts', () => {
  const data = 'A'.repeat(4_000_000);
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } };
  assert.ok(estimateInputTokens({ content: [image] }).upper < 5_000);
  assert.ok(
    estimateInputTokens({ content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }] }).upper < 5_000,
  );
  assert.ok(estimateInputTokens({ content: [{ type: 'text', text: data }] }).upper > 4_000_000);
  assert.ok(estimateInputTokens({ data }).upper > 4_000_000);
});

test('our own count is a token for four bytes', () => {
  assert.equal(tokensFromBytes(0), 0);
  assert.equal(tokensFromBytes(1), 1);
  assert.equal(tokensFromBytes(2000), 500);
  assert.equal(utf8Length('é🙂'), 6);
});
