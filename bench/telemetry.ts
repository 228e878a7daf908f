// `npm run bench -- --telemetry`: the CPU of the operator's export for one request, from its first
// span until a receiver in another process has taken all. With `--beside <folder>`, the code of
// another checkout takes turns with this one.
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { FinishedRequest } from '../src/domain/telemetry/finished-request.ts';
import type { Telemetry } from '../src/domain/telemetry/telemetry.ts';
import type { TelemetryConfig } from '../src/config/schema.ts';
import { type Clock, systemClock } from '../src/lib/clock.ts';
import { Registry } from '../src/lib/metrics/registry.ts';
import { startChild } from './child.ts';
import { median, quantile } from './statistics.ts';
import { formatTable } from './table.ts';

const rounds = 41;
const warmUps = 10;
const requests = 1_000;
/** Waiting costs no CPU. */
const turnMs = 15;

type Parts = ConstructorParameters<typeof Telemetry>[1];
type Code = { readonly Telemetry: typeof Telemetry };
type Contestant = {
  readonly name: string;
  /** null: telemetry is off. */
  readonly telemetry: Pick<Telemetry, 'begin' | 'hear'> | null;
  /** Sends what waits. */
  readonly flush: () => Promise<void>;
};

/** `calls`: the calls of providers; all but the last fail. */
const shapes = [
  { name: 'a hold, a call and a settlement', calls: 1 },
  { name: 'a hold, three calls and a settlement', calls: 3 },
];

export async function benchTelemetry(other: string | undefined): Promise<string> {
  const receiver = await startChild({
    script: join(import.meta.dirname, 'telemetry-receiver.ts'),
    core: 'contestant',
  });
  const contestants = [
    nothing,
    ...(await contestantsFor(`http://127.0.0.1:${receiver.port}`, other)),
  ];
  const rows: string[][] = [];
  for (const { name: shape, calls } of shapes) {
    const figures = contestants.map((): number[] => []);
    for (let round = 0; round < warmUps + rounds; round++)
      for (const [index, contestant] of contestants.entries()) {
        const micros = await cpuOf(contestant, calls);
        if (round >= warmUps) figures[index]!.push(micros);
      }
    const [ownCost] = figures.map(median);
    for (const [index, { name }] of contestants.entries())
      if (index > 0)
        rows.push([
          shape,
          name,
          (median(figures[index]!) - ownCost!).toFixed(1),
          (quantile(figures[index]!, 0.1) - ownCost!).toFixed(1),
        ]);
  }
  await receiver.stop();
  return formatTable(['spans', 'exported', 'CPU µs a request', 'fastest tenth'], rows);
}

async function contestantsFor(url: string, other: string | undefined): Promise<Contestant[]> {
  const own = await load('..');
  const target = { url: `${url}/v1/traces`, headers: {} };
  const config: TelemetryConfig = {
    traces: target,
    metrics: null,
    service_name: 'tollgate',
    resource_attributes: {},
    sampler: 'always_on',
    sampler_ratio: 1,
    metric_interval_ms: 60_000,
  };
  const metrics = { url: `${url}/v1/metrics`, headers: {} };
  return [
    contestantOf('traces', own, config),
    contestantOf('traces and metrics', own, { ...config, metrics }),
    contestantOf('metrics, no trace sampled', own, { ...config, metrics, sampler: 'always_off' }),
    ...(other === undefined
      ? []
      : [contestantOf(`traces, ${other}`, await load(resolve(other)), config)]),
  ];
}

/** What the bench itself costs. */
const nothing: Contestant = { name: 'nothing', telemetry: null, flush: () => setTimeout(turnMs) };

/** What happens every second in a gateway happens here once a round. */
function contestantOf(name: string, code: Code, config: TelemetryConfig): Contestant {
  const timers: (() => void)[] = [];
  const clock: Clock = {
    ...systemClock,
    every(_periodMs, action) {
      timers.push(action);
      return () => {};
    },
  };
  return {
    name,
    telemetry: new code.Telemetry({ operator: config, allowed_hosts: [] }, {
      log: silent,
      clock,
      registry: new Registry(),
    } as Parts),
    async flush() {
      for (let turn = 0; turn < 4; turn++) {
        for (const action of timers) action();
        await setTimeout(turnMs);
      }
    },
  };
}

async function load(folder: string): Promise<Code> {
  return (await import(join(folder, 'src/domain/telemetry/telemetry.ts'))) as Code;
}

/** Returns the microseconds of this process's CPU for one request. */
async function cpuOf({ telemetry, flush }: Contestant, calls: number): Promise<number> {
  const before = process.cpuUsage();
  for (let number = 0; number < requests; number++) runRequest(telemetry, number, calls);
  await flush();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / requests;
}

const silent = { warn() {} } as unknown as Parts['log'];

const usage = {
  inputTokens: 812,
  cacheReadTokens: 4_096,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  outputTokens: 211,
  reasoningTokens: 64,
};
const facts = {
  provider: 'openai',
  upstreamModel: 'gpt-6-luna-2026-09-22',
  baseUrl: 'https://api.openai.com/v1',
  isStream: true,
};

function runRequest(telemetry: Contestant['telemetry'], number: number, calls: number): void {
  const startMs = performance.now();
  const { fields, ...answered } = finished(number, calls);
  if (!telemetry) return;
  const spans = telemetry.begin(null)!;
  spans.noteAsked({ model: 'gpt-6-luna' });
  const endMs = performance.now();
  const times = { startMs, endMs };
  spans.keep({
    type: 'hold-tried',
    amountMicros: 12_000 + number,
    outcome: 'held',
    ...times,
  });
  for (let count = 1; count <= calls; count++) {
    const trace = spans.traceOfStep();
    const firstByteMs = count === calls ? endMs : null;
    spans.keep({
      type: 'call-ended',
      call: { ...facts, number: count, trace, startMs, firstByteMs },
      ending: count === calls ? 'good' : 'bad',
      failure: count === calls ? null : { kind: 'status', status: 503, ...noDetails },
      stop: count === calls ? 'end' : null,
      endMs,
    });
  }
  const costs = { costMicros: 1_234 + number, upstreamCostMicros: 1_000, lossMicros: 0 };
  spans.keep({
    type: 'settled',
    settled: { kind: 'charged', ...costs, usage, provider: 'openai', ending: 'complete' },
    ...times,
  });
  const path = '/v1/chat/completions';
  telemetry.hear({ type: 'answered', ...answered, ...times }, { path, fields, spans });
}

const noDetails = { message: '', retryAfterSeconds: null } as const;

function finished(
  number: number,
  attempts: number,
): Omit<FinishedRequest, 'spans' | 'startMs' | 'endMs'> {
  return {
    method: 'POST',
    route: '/v1/chat/completions',
    status: 200,
    isClientGone: false,
    fields: {
      requestId: `req_0198c2f4a7b17d0e9c3f5a6b7c${String(number).padStart(6, '0')}`,
      accountId: 'acc_0198c2f4a7b17d0e9c3f5a6b7c8d9e0f',
      keyId: 'key_0198c2f4a7b17d0e9c3f5a6b7c8d9e0f',
      mode: 'live',
      model: 'gpt-6-luna',
      provider: 'openai',
      attempts,
      stream: true,
      inputTokens: 4_908,
      outputTokens: 211,
      costMicros: 1_234 + number,
      upstreamCostMicros: 1_100 + number,
      lossMicros: 0,
      holdMicros: 12_000 + number,
      ending: 'complete',
    },
  };
}
