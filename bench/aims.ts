// Compares this run with the design's goals.
import { deltasPerStream } from './bodies.ts';
import type { Row } from './measure.ts';
import type { OpenStreams } from './open-streams.ts';
import { addedChunkMicros, addedP50Ms, percent, shareForSameCpu } from './report.ts';
import { formatTable } from './table.ts';

type Reached = {
  readonly wholeRows: readonly Row[];
  readonly streamRows: readonly Row[];
  readonly startMs: number;
  readonly openStreams: OpenStreams;
};

export function aimsReport({ wholeRows, streamRows, startMs, openStreams }: Reached): string {
  const busiest = rowOf(wholeRows, 'chat', clientsOf(wholeRows).at(-1)!);
  const alone = rowOf(wholeRows, 'chat', clientsOf(wholeRows)[0]!);
  const paced = rowOf(streamRows, 'chat-stream', clientsOf(streamRows).at(-1)!);
  const burst = rowOf(streamRows, 'chat-burst', clientsOf(streamRows).at(-1)!);
  const burstMicros = burst.figures.gateway.cpuMicrosPerRequest / deltasPerStream;
  const share = shareForSameCpu(busiest);
  const megabytes = (openStreams.rssBytesBefore + 2_000 * openStreams.rssBytesEach) / 1e6;
  const rows = [
    aim(
      `chat, ${busiest.clients} clients: half the relay's requests for the same CPU`,
      percent(share),
      share >= 0.5,
    ),
    aim(
      `chat, ${alone.clients} client: under 1 ms added at p50`,
      `${addedP50Ms(alone).toFixed(2)} ms`,
      addedP50Ms(alone) < 1,
    ),
    aim('chat-burst: under 10 µs of CPU a chunk', `${burstMicros.toFixed(1)} µs`, burstMicros < 10),
    aim(
      'chat-stream: under 10 µs of CPU a chunk over the relay',
      `${addedChunkMicros(paced).toFixed(1)} µs`,
      addedChunkMicros(paced) < 10,
    ),
    aim('listens within 1 s of its start', `${startMs.toFixed(0)} ms`, startMs < 1_000),
    aim(
      `2 000 open streams under 400 MB, from ${openStreams.count}`,
      `${megabytes.toFixed(0)} MB`,
      megabytes < 400,
    ),
  ];
  return formatTable(['aim', 'reached', ''], rows);
}

function aim(what: string, reached: string, isMet: boolean): string[] {
  return [what, reached, isMet ? 'met' : 'NOT MET'];
}

function clientsOf(rows: readonly Row[]): number[] {
  return rows.map(({ clients }) => clients).toSorted((one, other) => one - other);
}

function rowOf(rows: readonly Row[], name: string, clients: number): Row {
  const row = rows.find((one) => one.workload.name === name && one.clients === clients);
  if (!row) throw new Error(`no figures of ${name} with ${clients} clients`);
  return row;
}
