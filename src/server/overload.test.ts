import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Logger } from '../lib/log.ts';
import { TestClock } from '../../tests/support/test-clock.ts';
import { judge, Overload, samplesKept, type OverloadReason, type Sample } from './overload.ts';

const bounds = { lagMs: 100, memoryBytes: 1_000, heapBytes: 500 };
const calm: Sample = { lagMs: 1, rssBytes: 400, heapUsedBytes: 100, inUseBytes: 200 };
const late = (...lags: number[]) => lags.map((lagMs) => ({ ...calm, lagMs }));
const full: Sample = { ...calm, rssBytes: 1_000, inUseBytes: 700 };

type Case = {
  readonly samples: readonly Sample[];
  readonly before?: OverloadReason | null;
  readonly expected: OverloadReason | null;
};

const cases: Readonly<Record<string, Case>> = {
  'nothing measured yet': { samples: [], expected: null },
  'all is well': { samples: late(1, 2, 3, 4, 5), expected: null },
  'one turn that takes seconds': { samples: late(0, 0, 9_000, 0, 0), expected: null },
  'lag in every sample': { samples: late(100, 150, 120, 900, 100), expected: 'lag' },
  'lag in too few samples': { samples: late(900, 900, 900, 900), expected: null },
  'one sample without lag': { samples: late(100, 100, 99, 100, 100), expected: null },
  'lag must stay low before work is accepted again': {
    before: 'lag',
    samples: late(60, 0, 0, 0, 0),
    expected: 'lag',
  },
  'lag has stayed low': { before: 'lag', samples: late(49, 49, 0, 0, 0), expected: null },
  'memory at its limit': { samples: [full], expected: 'memory' },
  'memory comes before lag': {
    samples: [...late(100, 100, 100, 100), { ...full, lagMs: 100 }],
    expected: 'memory',
  },
  'resident memory that is no longer in use': {
    samples: [{ ...full, inUseBytes: 699 }],
    expected: null,
  },
  'the heap at its limit': { samples: [{ ...calm, heapUsedBytes: 500 }], expected: 'memory' },
  'memory must fall well below its limit before work is accepted again': {
    before: 'memory',
    samples: [{ ...full, rssBytes: 950 }],
    expected: 'memory',
  },
  'memory well below its limit': {
    before: 'memory',
    samples: [{ ...full, rssBytes: 899 }],
    expected: null,
  },
  'resident memory that has just been freed': {
    before: 'memory',
    samples: [{ ...full, inUseBytes: 629 }],
    expected: null,
  },
};

for (const [name, { samples, before = null, expected }] of Object.entries(cases)) {
  test(`overload: ${name}`, () => {
    assert.ok(samples.length <= samplesKept);
    assert.equal(judge(before, samples, bounds), expected);
  });
}

test('an idle process does not look for overload, and looks as soon as work arrives', async () => {
  let looks = 0;
  const clock = new TestClock();
  const sumMemory = () => {
    looks += 1;
    return 0;
  };
  const overload = new Overload(
    { lagMs: null, memoryBytes: null, sumMemory, onFull() {} },
    { log: { warn() {}, info() {} } as unknown as Logger, clock },
  );
  await clock.advance(60_000);
  assert.equal(looks, 0);
  assert.equal(overload.judgeArrival(), null);
  assert.equal(looks, 1);
  await clock.advance(1_000);
  assert.equal(looks, 11);
  overload.judgeArrival();
  await clock.advance(60_000);
  assert.equal(looks, 31);
  overload.close();
});
