import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readMetrics, writeMetrics } from './prometheus.ts';
import { type Merge, Registry } from './registry.ts';

async function scrape(...registries: readonly Registry[]): Promise<string> {
  return writeMetrics(structuredClone(await Promise.all(registries.map(readMetrics))));
}

test('a counter, a histogram and a gauge are written with their help, type and labels', async () => {
  const registry = new Registry();
  const calls = registry.counter({
    name: 'calls_total',
    help: 'A \\ and\na line.',
    labels: ['of', 'by'],
  });
  calls.add(2, 'a "quoted" \\ name', 'me\nyou');
  calls.add(1, 'a "quoted" \\ name', 'me\nyou');
  calls.add(5, 'b', '');
  const times = registry.histogram([0.1, 2.5], { name: 'seconds', help: 'Times.', labels: ['of'] });
  for (const seconds of [0.1, 0.25, 2, 9]) times.note(seconds, 'a');
  registry.addGauges({
    up: ['Is up.', async () => 1],
    none: ['Has no value.', () => []],
    read_total: ['Counts.', () => [{ labels: { state: 'used' }, value: NaN }]],
  });
  assert.equal(
    await scrape(registry),
    `# HELP calls_total A \\\\ and\\na line.
# TYPE calls_total counter
calls_total{of="a \\"quoted\\" \\\\ name",by="me\\nyou"} 3
calls_total{of="b",by=""} 5

# HELP seconds Times.
# TYPE seconds histogram
seconds_bucket{of="a",le="0.1"} 1
seconds_bucket{of="a",le="2.5"} 3
seconds_bucket{of="a",le="+Inf"} 4
seconds_sum{of="a"} 11.35
seconds_count{of="a"} 4

# HELP up Is up.
# TYPE up gauge
up 1

# HELP none Has no value.
# TYPE none gauge

# HELP read_total Counts.
# TYPE read_total counter
read_total{state="used"} NaN
`,
  );
});

test('a gauge that cannot be read has no value, and the others arrive', async () => {
  const registry = new Registry();
  const fail = () => {
    throw new Error('there are too many open files');
  };
  registry.addGauges({
    files: ['Open files.', fail],
    rows: ['Rows.', () => Promise.resolve().then(fail)],
    up: ['Is up.', () => 1],
  });
  assert.equal((await scrape(registry)).replaceAll(/^#.*\n/gm, '').trim(), 'up 1');
});

test('metrics of several threads are written as one, also those that one thread alone has', async () => {
  const threads = [2, 6].map((value, index) => {
    const registry = new Registry();
    const times = registry.histogram([1], { name: 'seconds', help: 'Times.', labels: ['of'] });
    times.note(value, 'both');
    times.note(0.5, `thread ${index}`);
    for (const merge of ['sum', 'max', 'average'] satisfies Merge[])
      registry.addGauges({ [merge]: ['A gauge.', () => value] }, merge);
    if (index === 1) registry.addGauges({ second: ['The second has it.', () => 1] });
    return registry;
  });
  const lines = (await scrape(...threads)).split('\n');
  assert.deepEqual(
    lines.filter((line) => line !== '' && !line.startsWith('#')),
    [
      'seconds_bucket{of="both",le="1"} 0',
      'seconds_bucket{of="both",le="+Inf"} 2',
      'seconds_sum{of="both"} 8',
      'seconds_count{of="both"} 2',
      'seconds_bucket{of="thread 0",le="1"} 1',
      'seconds_bucket{of="thread 0",le="+Inf"} 1',
      'seconds_sum{of="thread 0"} 0.5',
      'seconds_count{of="thread 0"} 1',
      'seconds_bucket{of="thread 1",le="1"} 1',
      'seconds_bucket{of="thread 1",le="+Inf"} 1',
      'seconds_sum{of="thread 1"} 0.5',
      'seconds_count{of="thread 1"} 1',
      'sum 8',
      'max 6',
      'average 4',
      'second 1',
    ],
  );
  assert.equal(lines.filter((line) => line === '# TYPE seconds histogram').length, 1);
});
