import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noDirectives, readDirectives } from './directives.ts';

test('every directive is read, and the rest of the message remains', () => {
  const message = [
    'What is the weather?',
    'sandbox: tool=get_weather {"city":"Paris"}',
    '  sandbox: tool = get_weather',
    'sandbox: think=Two calls, then. ',
    'sandbox: tokens=500',
    'sandbox: delay_ms=200',
    'sandbox: pace_ms=20',
    'sandbox: status=529',
    'sandbox: cut_after=5',
    'sandbox: usage=none',
    'Thank you.',
  ].join('\r\n');
  assert.deepEqual(readDirectives(message), {
    kind: 'read',
    text: 'What is the weather?\r\nThank you.',
    directives: {
      toolCalls: [
        { name: 'get_weather', input: '{"city":"Paris"}' },
        { name: 'get_weather', input: null },
      ],
      think: 'Two calls, then.',
      tokens: 500,
      delayMs: 200,
      paceMs: 20,
      status: 529,
      cutAfter: 5,
      withoutUsage: true,
    },
  });
});

test('a message without directives stays as it is', () => {
  const message = 'Tell me of the sandbox: is it deep?\nsandboxes: many';
  assert.deepEqual(readDirectives(message), {
    kind: 'read',
    text: message,
    directives: noDirectives,
  });
});

const malformed: Record<string, string> = {
  'sandbox: status': 'must have the form `sandbox: name=value`.',
  'sandbox: wait=5':
    'is not known. The directives are tool, think, tokens, delay_ms, pace_ms, status, cut_after, usage.',
  'sandbox: constructor=5':
    'is not known. The directives are tool, think, tokens, delay_ms, pace_ms, status, cut_after, usage.',
  'sandbox: tool=': 'must name a tool: `sandbox: tool=get_weather {"city":"Paris"}`.',
  'sandbox: think=': 'must say what to think: `sandbox: think=The user wants the weather.`',
  'sandbox: tokens=many': 'needs a whole number from 0 to 10000000.',
  'sandbox: tokens=-1': 'needs a whole number from 0 to 10000000.',
  'sandbox: tokens=1.5': 'needs a whole number from 0 to 10000000.',
  'sandbox: delay_ms=600001': 'needs a whole number from 0 to 600000.',
  'sandbox: status=200': 'needs a whole number from 400 to 599.',
  'sandbox: usage=some': 'knows one value: `sandbox: usage=none`.',
};

for (const [line, problem] of Object.entries(malformed)) {
  test(`\`${line}\` is explained`, () => {
    assert.deepEqual(readDirectives(`Hello\n${line}`), {
      kind: 'malformed',
      message: `The directive \`${line}\` ${problem}`,
    });
  });
}

test('only the tool directive may be repeated', () => {
  const read = readDirectives('sandbox: tokens=5\nsandbox: tokens=6');
  assert.ok(read.kind === 'malformed' && read.message.includes('second one for `tokens`'));
});

test('a message has at most 100 tool calls', () => {
  const calls = (count: number) => readDirectives('sandbox: tool=t\n'.repeat(count));
  assert.equal(calls(100).kind, 'read');
  const read = calls(200_000);
  assert.ok(read.kind === 'malformed' && read.message.includes('100 tool calls'));
});

test('a long malformed line is shortened in the message', () => {
  const read = readDirectives(`sandbox: status=${'9'.repeat(500)}`);
  assert.ok(read.kind === 'malformed' && read.message.length < 200 && read.message.includes('…'));
});
