// Prints the measurements: one table per question.
import { deltasPerStream } from './bodies.ts';
import type { Row } from './measure.ts';
import { formatTable } from './table.ts';

type Column = readonly [title: string, cellOf: (row: Row) => string];

const workload: readonly Column[] = [
  ['workload', (row) => row.workload.name],
  ['clients', (row) => String(row.clients)],
];

const throughput: readonly Column[] = [
  ['upstream/s', ({ figures }) => figures.upstream.requestsPerSecond.toFixed(0)],
  ['relay/s', ({ figures }) => figures.relay.requestsPerSecond.toFixed(0)],
  ['gateway/s', ({ figures }) => figures.gateway.requestsPerSecond.toFixed(0)],
  [
    'of relay',
    ({ figures }) => percent(figures.gateway.requestsPerSecond / figures.relay.requestsPerSecond),
  ],
  ['CPU relay µs', ({ figures }) => figures.relay.cpuMicrosPerRequest.toFixed(0)],
  ['CPU gateway µs', ({ figures }) => figures.gateway.cpuMicrosPerRequest.toFixed(0)],
  ['for the same CPU', (row) => percent(shareForSameCpu(row))],
];

const latency: readonly Column[] = [
  ['p50 upstream', ({ figures }) => milliseconds(figures.upstream.p50Ms)],
  ['relay', ({ figures }) => milliseconds(figures.relay.p50Ms)],
  ['gateway', ({ figures }) => milliseconds(figures.gateway.p50Ms)],
  ['added', (row) => milliseconds(addedP50Ms(row))],
  ['p99 upstream', ({ figures }) => milliseconds(figures.upstream.p99Ms)],
  ['relay', ({ figures }) => milliseconds(figures.relay.p99Ms)],
  ['gateway', ({ figures }) => milliseconds(figures.gateway.p99Ms)],
  ['added', ({ figures: { gateway, upstream } }) => milliseconds(gateway.p99Ms - upstream.p99Ms)],
];

const streaming: readonly Column[] = [
  [
    'relay chunks/s',
    ({ figures }) => (figures.relay.requestsPerSecond * deltasPerStream).toFixed(0),
  ],
  [
    'gateway chunks/s',
    ({ figures }) => (figures.gateway.requestsPerSecond * deltasPerStream).toFixed(0),
  ],
  [
    'CPU relay µs',
    ({ figures }) => (figures.relay.cpuMicrosPerRequest / deltasPerStream).toFixed(1),
  ],
  [
    'CPU gateway µs',
    ({ figures }) => (figures.gateway.cpuMicrosPerRequest / deltasPerStream).toFixed(1),
  ],
  ['added µs', (row) => addedChunkMicros(row).toFixed(1)],
  ['first byte upstream', ({ figures }) => milliseconds(figures.upstream.firstByteP50Ms)],
  ['relay', ({ figures }) => milliseconds(figures.relay.firstByteP50Ms)],
  ['gateway', ({ figures }) => milliseconds(figures.gateway.firstByteP50Ms)],
];

export function wholeAnswersReport(rows: readonly Row[]): string {
  return [
    `Whole answers, every one charged: requests a second, and CPU a request\n\n${tableOf([...workload, ...throughput], rows)}`,
    `The same requests: time in ms from sending to the last byte\n\n${tableOf([...workload, ...latency], rows)}`,
  ].join('\n\n');
}

export function streamsReport(rows: readonly Row[]): string {
  const title = `Streams of ${deltasPerStream} chunks, every one charged: CPU a chunk, and time in ms to the first byte of the body`;
  return `${title}\n\n${tableOf([...workload, ...streaming], rows)}`;
}

/**
 * The gateway's requests for the CPU time of one relay request. On an idle machine this equals the
 * ratio of their requests per second; on a busy one it is more reliable.
 */
export function shareForSameCpu({ figures: { gateway, relay } }: Row): number {
  return relay.cpuMicrosPerRequest / gateway.cpuMicrosPerRequest;
}

/** The gateway's latency on top of the upstream's median. */
export function addedP50Ms({ figures: { gateway, upstream } }: Row): number {
  return gateway.p50Ms - upstream.p50Ms;
}

/**
 * CPU time per chunk above the relay's, which is mostly the system's cost of reading and writing a
 * chunk.
 */
export function addedChunkMicros({ figures: { gateway, relay } }: Row): number {
  return (gateway.cpuMicrosPerRequest - relay.cpuMicrosPerRequest) / deltasPerStream;
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}

function milliseconds(value: number): string {
  return value.toFixed(2);
}

function tableOf(columns: readonly Column[], rows: readonly Row[]): string {
  return formatTable(
    columns.map(([title]) => title),
    rows.map((row) => columns.map(([, cellOf]) => cellOf(row))),
  );
}
