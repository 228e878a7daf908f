// What the bench prints: a table for each part, and how the aims were met.
import { deltasPerStream } from './bodies.ts';
import { isPinned } from './child.ts';
import type { Row } from './measure.ts';
import { formatTable } from './table.ts';

export function wholeAnswersReport(rows: readonly Row[]): string {
  const head = ['workload', 'clients', 'req/s upstr.', 'relay', 'gateway', 'share', 'p50 upstr.', 'relay', 'gateway', 'added', 'p99 relay', 'gateway', 'added', 'CPU relay', 'gateway'];
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
  const head = ['workload', 'clients', 'chunks/s relay', 'gateway', 'first byte relay', 'gateway', 'added', 'CPU relay', 'gateway'];
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
