// The metrics that operators see, at /metrics and in OTLP, after the same mixed requests: each with
// its name, type, labels, buckets and value. tests/support/metric-outputs/ has what they were.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { answerContent, wholeAnswer } from '../support/answers.ts';
import { metricsToken, startGateway, type TestGateway } from '../support/gateway.ts';
import { startOtlpReceiver } from '../support/otlp-receiver.ts';
import { SleeplessClock, type TestClock } from '../support/test-clock.ts';
import { answerJson, answerStatus, type Script } from '../support/upstream.ts';

const chat = '/v1/chat/completions';
const localChat = '/local/v1/chat/completions';
const messages = [{ role: 'user', content: 'Hi' }];
const terms = {
  max_input_tokens: 100_000,
  max_output_tokens: 1_000,
  prices: { input: 1, output: 10 },
};
const content = { text: 'Hello you', tokens: { input: 30, cacheRead: 4, output: 5 } };

/** A provider that takes this long by the test's clock. */
const after = (clock: TestClock, ms: number, script: Script): Script => {
  return async (response, request) => {
    await clock.advance(ms);
    await script(response, request);
  };
};

async function sendMixed(gateway: TestGateway, clock: TestClock): Promise<void> {
  const { key } = await gateway.makeKey({ creditUsd: 5 });
  const { key: testKey } = await gateway.makeKey({ mode: 'test' });
  const { key: poor } = await gateway.makeKey({ creditUsd: 0.001 });
  const { key: slow } = await gateway.makeKey({ creditUsd: 5, requestsPerMinute: 1 });
  const ask = async (status: number, fields: object, by = key, headers = {}, path = chat) => {
    const body = { max_tokens: 50, messages, ...fields };
    const reply = await gateway.post(path, { key: by, headers, body });
    assert.equal(reply.status, status, reply.text);
  };
  const { upstream } = gateway;
  upstream.on(localChat, after(clock, 320, answerContent('chat', content)));
  upstream.on('/v1/messages', after(clock, 1_200, answerContent('messages', content)));
  upstream.on(chat, answerStatus(500));

  await ask(200, { model: 'good' });
  await ask(200, { model: 'good', stream: true });
  await ask(200, { model: 'spare' });
  await ask(200, { model: 'claude' }, key, {}, '/v1/messages');
  await ask(200, { model: 'claude' });
  for (const headers of [{ 'idempotency-key': 'one' }, { 'x-service-cache': 'true' }])
    for (let times = 0; times < 3; times++)
      await ask(200, { model: 'good', seed: 7 }, key, headers);
  await ask(502, { model: 'bad' });
  await ask(200, { model: 'good' }, slow);
  await ask(429, { model: 'good' }, slow);
  await ask(404, { model: 'nobody' });
  await ask(401, { model: 'good' }, 'tg_live_wrong');
  await ask(400, { model: 'good', max_tokens: 'many' });
  await ask(200, { model: 'gpt-6-luna' }, testKey);
  await ask(200, { query: 'weather' }, testKey, {}, '/v1/web-search');

  // The provider bills more than the account has.
  const dear = { text: 'Hello', tokens: { input: 2_900, output: 5 } };
  upstream.on(localChat, answerContent('chat', dear));
  await ask(200, { model: 'good', max_tokens: 10 }, poor);
  // A call without a name cannot be translated, and is not charged.
  const { choices: _, ...rest } = wholeAnswer('chat', content) as Record<string, unknown>;
  const call = { id: 'call_1', type: 'function', function: { name: '', arguments: '{}' } };
  const message = { role: 'assistant', content: null, tool_calls: [call] };
  const spoiled = { ...rest, choices: [{ index: 0, message, finish_reason: 'tool_calls' }] };
  upstream.on(localChat, answerJson(spoiled));
  await ask(502, { model: 'good' }, key, {}, '/v1/messages');
  await gateway.get('/v1/models', { key });
  await gateway.get('/nothing/here');
}

/** The samples of a histogram's series, one after the other, are one line. */
const bucket = /_bucket\{(.*),le="(.*)"\}/;

/** Returns what /metrics says, sorted; of metrics that are not Tollgate's own, no values. */
function readScrape(scrape: string): string {
  const metrics = scrape.split('\n\n').map((metric) => metric.trim().split('\n'));
  return metrics
    .toSorted(([one], [other]) => (one! < other! ? -1 : 1))
    .flatMap(([help, type, ...samples]) => [
      help!.replace('# HELP ', ''),
      type!.replace('# TYPE ', ''),
      ...new Set(help!.includes(' tollgate_') ? readSeries(samples) : readNames(samples)),
    ])
    .join('\n');
}

function readSeries(samples: readonly string[]): string[] {
  const lines = new Map<string, string>();
  for (const sample of samples) {
    const name = sample.slice(0, sample.lastIndexOf(' ')).replace(bucket, '_bucket{$1}');
    const le = bucket.exec(sample)?.[2];
    const value = sample.slice(sample.lastIndexOf(' ') + 1);
    lines.set(name, `${lines.get(name) ?? name} ${le === undefined ? value : `${le}:${value}`}`);
  }
  return [...lines.values()]
    .toSorted()
    .map((line) => line.replace(/version="[^"]*"/, 'version=""'));
}

/** Returns the names of series and labels. */
const readNames = (samples: readonly string[]) =>
  samples.map((sample) => {
    const labels = [...sample.matchAll(/[{,](\w+)=("[^"]*")/g)].map(([, label, value]) =>
      label === 'le' ? `le=${value}` : String(label),
    );
    return [/^\w+/.exec(sample)![0], ...labels.toSorted()].join(' ');
  });

type Attributes = readonly { readonly key: string; readonly value: object }[];
type OtlpMetric = Readonly<Record<'name' | 'description' | 'unit', string>> &
  Readonly<Partial<Record<'sum' | 'histogram', object>>>;
type Points = {
  readonly dataPoints: readonly {
    readonly attributes: Attributes;
    readonly startTimeUnixNano: string;
    readonly timeUnixNano: string;
  }[];
};

/** Returns what an export says, sorted, without its times. */
function readExport(metrics: readonly OtlpMetric[]): string {
  return metrics
    .toSorted(({ name: one }, { name: other }) => (one < other ? -1 : 1))
    .flatMap(({ name, description, unit, ...values }) => {
      const [[kind, value]] = Object.entries(values) as [[string, Points]];
      const { dataPoints, ...shared } = value;
      const points = dataPoints.map(({ attributes, startTimeUnixNano, timeUnixNano, ...point }) => {
        assert.ok(startTimeUnixNano < timeUnixNano);
        const labels = attributes.map(
          ({ key, value: { ...only } }) => `${key}=${JSON.stringify(only)}`,
        );
        return `${labels.toSorted().join()} ${JSON.stringify(point).replaceAll('"', '')}`;
      });
      return [
        `${name} ${unit} ${description}`,
        `${kind} ${JSON.stringify(shared)}`,
        ...points.toSorted(),
      ];
    })
    .join('\n')
    .replaceAll(/\{"stringValue":("[^"]*")\}/g, '$1');
}

function assertSame(name: string, found: string): void {
  const file = join(import.meta.dirname, '../support/metric-outputs', name);
  assert.equal(`${found}\n`, readFileSync(file, 'utf8'));
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

test('names, labels, buckets and values of all metrics are as operators know them', async (t) => {
  const clock = new SleeplessClock();
  const receiver = await startOtlpReceiver({ clock });
  t.after(receiver.close);
  const gateway = await startGateway(
    {
      metrics: { token: metricsToken },
      telemetry: { endpoint: receiver.url },
      models: {
        good: { ...terms, routes: [{ provider: 'local', model: 'good' }] },
        bad: { ...terms, routes: [{ provider: 'openai', model: 'bad', api: 'chat' }] },
        spare: {
          ...terms,
          routes: [
            { provider: 'openai', model: 'bad', api: 'chat' },
            { provider: 'local', model: 'good', rank: 2 },
          ],
        },
        claude: { ...terms, routes: [{ provider: 'anthropic', model: 'claude' }] },
      },
    },
    { clock, env: { OTEL_METRIC_EXPORT_INTERVAL: '3600000' } },
  );
  let scrape: string;
  try {
    // Without a collection its histogram has no series.
    collectGarbage();
    await sendMixed(gateway, clock);
    scrape = (await gateway.get('/metrics', { key: metricsToken })).text;
  } finally {
    await gateway.stop();
  }
  const exported = receiver.upstream.requests.findLast(({ path }) => path === '/v1/metrics')!;
  const { resourceMetrics } = exported.body as {
    resourceMetrics: { scopeMetrics: { metrics: OtlpMetric[] }[] }[];
  };
  assertSame('prometheus.txt', readScrape(scrape));
  assertSame('otlp.txt', readExport(resourceMetrics[0]!.scopeMetrics[0]!.metrics));
});
