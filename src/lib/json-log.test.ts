import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { createLog } from './json-log.ts';

const nowMs = () => 1_800_000_000_123;

type Use = (log: ReturnType<typeof createLog>) => void;

/** Returns the lines written, with `batch written` after each batch. */
function outputOf(level: Parameters<typeof createLog>[0], use: Use): string[] {
  const lines: string[] = [];
  use(
    createLog(
      level,
      { write: (line) => lines.push(line), writeBatch: () => lines.push('batch written') },
      nowMs,
    ),
  );
  return lines;
}

function written(level: Parameters<typeof createLog>[0], use: Use): string[] {
  return outputOf(level, use).filter((line) => line !== 'batch written');
}

const cases: readonly object[] = [
  {},
  {
    text: 'a "quoted" \n line \u2028 \ud800',
    number: 1.5,
    flag: false,
    nothing: null,
    left_out: undefined,
  },
  { list: [1, 'two'], nested: { three: 3 } },
  { err: new Error('wrong', { cause: new TypeError('deeper') }), request_id: 'req_1' },
];

for (const name of ['debug', 'info', 'warn', 'error'] as const) {
  test(`a log line of level ${name} equals pino's, byte for byte`, () => {
    for (const fields of cases) {
      const expected: string[] = [];
      const timestamp = () => `,"time":"${new Date(nowMs()).toISOString()}"`;
      pino({ level: 'trace', base: null, timestamp }, { write: (line) => expected.push(line) })[
        name
      ](fields, 'what happened');
      assert.deepEqual(
        written('trace', (log) => log[name](fields, 'what happened')),
        expected,
      );
    }
  });
}

test('an error that refers to itself is still logged', () => {
  const err: Error & { self?: unknown } = new Error('round');
  err.self = { err };
  assert.match(
    written('info', (log) => log.error({ err }, 'what happened'))[0]!,
    /"msg":"what happened"/,
  );
});

test('lines below the log level are left out', () => {
  const all = (level: Parameters<typeof createLog>[0]) =>
    written(level, (log) => {
      for (const name of ['debug', 'info', 'warn', 'error'] as const) log[name]({}, name);
    }).map((line) => (JSON.parse(line) as { msg: string }).msg);
  assert.deepEqual(all('warn'), ['warn', 'error']);
  assert.deepEqual(all('fatal'), []);
  assert.deepEqual(all('silent'), []);
});

test('a warning or an error is written at once, with the lines before it', () => {
  const lines = outputOf('info', (log) => {
    log.info({}, 'one');
    log.warn({}, 'two');
    log.error({ err: new Error('three') }, 'three');
    log.debug({}, 'four');
  });
  const messages = lines.map((line) =>
    line === 'batch written' ? line : (JSON.parse(line) as { msg: string }).msg,
  );
  assert.deepEqual(messages, ['one', 'two', 'batch written', 'three', 'batch written']);
});
