// Prints the peers and their figures. A figure is the median of the rounds; "of relay" is the
// median of each round's ratio to the relay.
import { deltasPerStream } from '../bodies.ts';
import { median } from '../statistics.ts';
import { formatTable } from '../table.ts';
import type { Plan } from './inside.ts';
import type { Peer } from './peer.ts';
import { openName, streamClients, wholeClients, type Figures, type Round } from './rounds.ts';

type Field = {
  [Name in keyof Figures]: Figures[Name] extends number ? Name : never;
}[keyof Figures];
/** The figures of one peer under one load. */
type Sample = { readonly load: string; readonly name: string; readonly rounds: readonly Round[] };
type Column = readonly [title: string, cellOf: (sample: Sample) => string];

export function describePeers(peers: readonly Peer[], { versions, skipped }: Plan): string {
  const measured = peers.filter(({ name }) => versions[name] !== undefined);
  const table = formatTable(
    ['peer', 'version'],
    measured.map(({ name }) => [name, versions[name]!]),
  );
  const details = measured.map(
    ({ name, features: { auth, billing, log }, telemetry }) =>
      `${name}: keys: ${auth}; billing: ${billing}; log: ${log}; calls home: ${telemetry}`,
  );
  const missing = Object.entries(skipped).map(
    ([name, reason]) => `SKIPPED ${name}: ${reason.replaceAll(/\s+/g, ' ')}`,
  );
  return `${table}\n\n${[...details, ...missing].join('\n')}\n`;
}

export function figuresReport(rounds: readonly Round[], { rates, versions }: Plan): string {
  // The plan's order: a round's own is shuffled.
  const names = Object.keys(versions).filter((name) => rounds[0]![name]);
  const tableOf = (load: string, columns: readonly Column[]) => {
    const samples = names.map((name) => ({ load, name, rounds }));
    const faults = samples.flatMap((sample) => faultOf(sample));
    const rows = samples.map((sample) => [
      sample.name,
      ...columns.map(([, cellOf]) => cellOf(sample)),
    ]);
    const table = formatTable(['peer', ...columns.map(([title]) => title)], rows);
    return [table, ...faults].join('\n');
  };
  return [
    `Whole answers of 1 KB, closed loop, ${wholeClients} clients\n`,
    tableOf('closed', [...throughput, ...cpu(1), ...latency, ...checks]),
    `\nStreams of ${deltasPerStream} chunks, one every 4 ms, closed loop, ${streamClients} clients; CPU a chunk\n`,
    tableOf('stream', [...cpu(deltasPerStream), ...streamLatency, ...checks]),
    ...rates.flatMap((rate) => [
      `\nWhole answers, open: ${rate} a second, latency from the scheduled time\n`,
      tableOf(openName(rate), [...latency, ...checks]),
    ]),
    '',
  ].join('\n');
}

const throughput: readonly Column[] = [
  ['requests/s', (sample) => middle(sample, 'requestsPerSecond').toFixed(0)],
];

const latency: readonly Column[] = [
  ['p50 ms', (sample) => middle(sample, 'p50Ms').toFixed(2)],
  ['of relay', (sample) => ratio(sample, 'p50Ms')],
  ['p99 ms', (sample) => middle(sample, 'p99Ms').toFixed(1)],
  ['of relay', (sample) => ratio(sample, 'p99Ms')],
];

const streamLatency: readonly Column[] = [
  ['first byte p50 ms', (sample) => middle(sample, 'firstByteP50Ms').toFixed(2)],
  ['whole p50 ms', (sample) => middle(sample, 'p50Ms').toFixed(0)],
  ['p99 ms', (sample) => middle(sample, 'p99Ms').toFixed(0)],
];

const checks: readonly Column[] = [
  ['asked', (sample) => String(total(sample, 'asked'))],
  ['wrong', (sample) => String(total(sample, 'wrong'))],
  ['unanswered', (sample) => String(total(sample, 'unanswered'))],
];

function cpu(parts: number): readonly Column[] {
  const digits = parts === 1 ? 0 : 1;
  return [
    ['CPU µs', (sample) => (middle(sample, 'cpuMicros') / parts).toFixed(digits)],
    ['of relay', (sample) => ratio(sample, 'cpuMicros')],
    ['database µs', (sample) => (middle(sample, 'databaseCpuMicros') / parts).toFixed(digits)],
  ];
}

function middle(sample: Sample, field: Field): number {
  return median(valuesOf(sample, field));
}

function ratio(sample: Sample, field: Field): string {
  const relay = valuesOf({ ...sample, name: 'relay' }, field);
  return `${median(valuesOf(sample, field).map((value, round) => value / relay[round]!)).toFixed(1)}×`;
}

function total(sample: Sample, field: Field): number {
  return valuesOf(sample, field).reduce((sum, value) => sum + value, 0);
}

function valuesOf({ load, name, rounds }: Sample, field: Field): number[] {
  return rounds.map((round) => round[name]![load]![field]);
}

function faultOf({ load, name, rounds }: Sample): string[] {
  const fault = rounds.map((round) => round[name]![load]!.firstFault).find((one) => one !== null);
  return fault === undefined ? [] : [`${name}, first fault: ${fault}`];
}
