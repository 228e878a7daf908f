// What the bench prints: a table for each part, and how the aims were met.
import { deltasPerStream } from './bodies.ts';
import type { Row } from './measure.ts';
import type { OpenStreams } from './open-streams.ts';
import { formatTable } from './table.ts';

export function wholeAnswersReport(rows: readonly Row[]): string {
  const head = [
    'workload',
    'clients',
    'req/s upstr.',
    'relay',
    'gateway',
    'share',
    'p50 upstr.',
    'relay',
    'gateway',
    'added',
    'p99 relay',
    'gateway',
    'added',
    'CPU relay',
    'gateway',
  ];
  const cells = rows.map(({ workload, clients, figures: { upstream, relay, gateway } }) => [
    workload.name,
    String(clients),
    ...[upstream, relay, gateway].map((one) => one.requestsPerSecond.toFixed(0)),
    percent(gateway.requestsPerSecond / relay.requestsPerSecond),
    ...[upstream, relay, gateway].map((one) => one.p50Ms.toFixed(2)),
    (gateway.p50Ms - upstream.p50Ms).toFixed(2),
    ...[relay, gateway].map((one) => one.p99Ms.toFixed(2)),
    (gateway.p99Ms - upstream.p99Ms).toFixed(2),
    ...[relay, gateway].map((one) => one.cpuMicrosPerRequest.toFixed(0)),
  ]);
  return `Whole answers, every one charged (latencies in ms, CPU in µs a request)\n\n${formatTable(head, cells)}`;
}

export function streamsReport(rows: readonly Row[]): string {
  const head = [
    'workload',
    'clients',
    'chunks/s relay',
    'gateway',
    'first byte relay',
    'gateway',
    'added',
    'CPU relay',
    'gateway',
  ];
  const cells = rows.map(({ workload, clients, figures: { upstream, relay, gateway } }) => [
    workload.name,
    String(clients),
    ...[relay, gateway].map((one) => (one.requestsPerSecond * deltasPerStream).toFixed(0)),
    ...[relay, gateway].map((one) => one.firstByteP50Ms.toFixed(2)),
    (gateway.firstByteP50Ms - upstream.firstByteP50Ms).toFixed(2),
    ...[relay, gateway].map((one) => (one.cpuMicrosPerRequest / deltasPerStream).toFixed(1)),
  ]);
  return `Streams of ${deltasPerStream} chunks, every one charged (latencies in ms, CPU in µs a chunk)\n\n${formatTable(head, cells)}`;
}

export type AimFigures = {
  readonly wholeRows: readonly Row[];
  readonly streamRows: readonly Row[];
  readonly startMs: number;
  readonly openStreams: OpenStreams;
};

/** The aims of the design, and what was reached. */
export function aimsReport({ wholeRows, streamRows, startMs, openStreams }: AimFigures): string {
  const busiest = rowOf(wholeRows, 'chat', Math.max(...wholeRows.map(({ clients }) => clients)));
  const alone = rowOf(wholeRows, 'chat', Math.min(...wholeRows.map(({ clients }) => clients)));
  const share = busiest.figures.gateway.requestsPerSecond / busiest.figures.relay.requestsPerSecond;
  const addedMs = alone.figures.gateway.p50Ms - alone.figures.upstream.p50Ms;
  const chunkMicros = (name: string) =>
    rowOf(streamRows, name, Math.max(...streamRows.map(({ clients }) => clients))).figures.gateway.cpuMicrosPerRequest /
    deltasPerStream;
  const megabytes = (openStreams.rssBytesBefore + 2_000 * openStreams.rssBytesEach) / 1e6;
  return formatTable(
    ['aim', 'reached', ''],
    [
      aim(`chat, ${busiest.clients} clients: half the relay's requests a second`, percent(share), share >= 0.5),
      aim(`chat, ${alone.clients} client: p50 added under 1 ms`, `${addedMs.toFixed(2)} ms`, addedMs < 1),
      ...['chat-stream', 'chat-burst'].map((name) =>
        aim(`${name}: under 10 µs of CPU a chunk`, `${chunkMicros(name).toFixed(1)} µs`, chunkMicros(name) < 10),
      ),
      aim('listens within 1 s of its start', `${startMs.toFixed(0)} ms`, startMs < 1_000),
      aim(
        `2 000 open streams under 400 MB (${(openStreams.rssBytesEach / 1e3).toFixed(0)} kB each, of ${openStreams.count})`,
        `${megabytes.toFixed(0)} MB`,
        megabytes < 400,
      ),
    ],
  );
}

function aim(what: string, reached: string, isMet: boolean): string[] {
  return [what, reached, isMet ? 'met' : 'NOT MET'];
}

function rowOf(rows: readonly Row[], name: string, clients: number): Row {
  const row = rows.find((one) => one.workload.name === name && one.clients === clients);
  if (!row) throw new Error(`no figures of ${name} with ${clients} clients`);
  return row;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}
