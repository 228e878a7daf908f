import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { jsonMembers } from '../lib/log.ts';
import { createLog } from './log.ts';

const nowMs = () => 1_800_000_000_123;

type Use = (log: ReturnType<typeof createLog>) => void;

/** What was written and, as `handed`, when nothing was to wait any longer. */
function told(level: Parameters<typeof createLog>[0], use: Use): string[] {
  const lines: string[] = [];
  use(createLog(level, { write: (line) => lines.push(line), hand: () => lines.push('handed') }, nowMs));
  return lines;
}

function written(level: Parameters<typeof createLog>[0], use: Use): string[] {
  return told(level, use).filter((line) => line !== 'handed');
}

const cases: readonly object[] = [
  {},
  { text: 'a "quoted" \n line \u2028 \ud800', number: 1.5, flag: false, nothing: null, left_out: undefined },
  { list: [1, 'two'], nested: { three: 3 } },
  { err: new Error('wrong', { cause: new TypeError('deeper') }), request_id: 'req_1' },
];

for (const name of ['debug', 'info', 'warn', 'error'] as const) {
  test(`a line of ${name} is pino's, byte for byte`, () => {
    for (const fields of cases) {
      const expected: string[] = [];
      const timestamp = () => `,"time":"${new Date(nowMs()).toISOString()}"`;
      pino({ level: 'trace', base: null, timestamp }, { write: (line) => expected.push(line) })[name](fields, 'what happened');
      assert.deepEqual(
        written('trace', (log) => log[name](fields, 'what happened')),
        expected,
      );
      if ('err' in fields) continue;
      assert.deepEqual(
        written('trace', (log) => log[name](jsonMembers(fields), 'what happened')),
        expected,
      );
    }
  });
}

test('an error that refers to itself is written all the same', () => {
  const err: Error & { self?: unknown } = new Error('round');
  err.self = { err };
  assert.match(written('info', (log) => log.error({ err }, 'what happened'))[0]!, /"msg":"what happened"/);
});

test('what is below the level is left out', () => {
  const all = (level: Parameters<typeof createLog>[0]) =>
    written(level, (log) => {
      for (const name of ['debug', 'info', 'warn', 'error'] as const) log[name]({}, name);
    }).map((line) => (JSON.parse(line) as { msg: string }).msg);
  assert.deepEqual(all('warn'), ['warn', 'error']);
  assert.deepEqual(all('fatal'), []);
  assert.deepEqual(all('silent'), []);
});

test('warnings and errors do not wait, and nor does what came before them', () => {
  const lines = told('info', (log) => {
    log.info({}, 'one');
    log.warn({}, 'two');
    log.error({ err: new Error('three') }, 'three');
    log.debug({}, 'four');
  });
  const messages = lines.map((line) => (line === 'handed' ? line : (JSON.parse(line) as { msg: string }).msg));
  assert.deepEqual(messages, ['one', 'two', 'handed', 'three', 'handed']);
});
