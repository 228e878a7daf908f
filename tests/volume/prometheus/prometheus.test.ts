// A real Prometheus (Debian's package) scrapes a real gateway with two HTTP threads, and its sums
// agree with the ledger.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext } from 'node:test';
import { sql } from 'kysely';
import { answerContent } from '../../support/answers.ts';
import { test } from '../../support/both-stores.ts';
import { metricsToken, startGatewayProgram, type TestGateway } from '../../support/gateway.ts';
import type { Program } from '../../support/program.ts';
import { dashboardQueries, skipWithoutPrometheus } from '../../support/prometheus.ts';
import { currentStore } from '../../support/test-store.ts';
import { until } from '../../support/until.ts';
import { answerStatus } from '../../support/upstream.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const path = '/v1/chat/completions';
const model = {
  max_input_tokens: 100_000,
  max_output_tokens: 1_000,
  prices: { input: 1, output: 10 },
};

type Result = { metric: Record<string, string>; value: [number, string] };

test(
  'a real Prometheus has the sums of the ledger, and every query of the dashboard works',
  { skip: skipWithoutPrometheus },
  async (t) => {
    const gateway = await startGatewayProgram({
      server: { threads: 2 },
      metrics: { token: metricsToken },
      pricing: { markup: 2 },
      models: {
        good: { ...model, routes: [{ provider: 'local', model: 'good' }] },
        bad: { ...model, routes: [{ provider: 'openai', model: 'bad' }] },
      },
    });
    t.after(() => gateway.stop());
    await sendTraffic(gateway);
    const { text } = await gateway.get('/metrics', { key: metricsToken });
    // Prints what it finds, such as a counter without `_total`.
    assert.equal(
      execFileSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' }),
      '',
    );

    const ask = await startPrometheus(t, gateway.url);
    const sums = await sumsOfLedger(gateway);
    assert.ok(sums.length >= 2);
    const moneyOf = async (name: string, ofSeries = '') =>
      new Map(
        (await ask(`sum by (mode, model, provider) (tollgate_${name}${ofSeries})`)).map(
          ({ metric, value }) => [
            `${metric['mode']} ${metric['model']} ${metric['provider']}`,
            Number(value[1]),
          ],
        ),
      );
    const name = ({ mode, model_id, provider }: Sums) => `${mode} ${model_id} ${provider}`;
    await until(async () => (await ask('tollgate_build_info')).length === 1);
    const charged = await moneyOf('charged_micros_total');
    assert.deepEqual(charged, new Map(sums.map((row) => [name(row), Number(row.charged)])));
    const cost = await moneyOf('upstream_cost_micros_total');
    assert.deepEqual(cost, new Map(sums.map((row) => [name(row), Number(row.cost)])));
    const [lost] = await ask('sum(tollgate_loss_micros_total)');
    const { loss } = await gateway.database.read
      .selectFrom('entries')
      .select(({ fn }) => fn.sum<number | string>('loss_micros').as('loss'))
      .executeTakeFirstOrThrow();
    assert.ok(Number(loss) > 0);
    assert.equal(Number(lost!.value[1]), Number(loss));

    const isEmptyHere = (title: string) =>
      title === 'Sealed until' ||
      (currentStore() === 'sqlite' && title === 'Connections to PostgreSQL');
    // Rates need two scrapes.
    await until(async () => (await ask('rate(tollgate_requests_total[1m])')).length > 0);
    for (const { title, query } of dashboardQueries(
      readFileSync(join(root, 'deploy/grafana/tollgate.json'), 'utf8'),
    )) {
      const found = await ask(
        query.replaceAll('$instance', '.*').replaceAll(/\$__(?:rate_interval|range)/g, '5m'),
      );
      if (!isEmptyHere(title)) assert.ok(found.length > 0, `${title} is empty: ${query}`);
    }
    const [rules] = await ask('count(ALERTS{alertstate="firing"}) or vector(0)');
    assert.ok(rules);
  },
);

/** Sends live and test requests that succeed, fail, lose money, are replayed and are refused. */
async function sendTraffic(gateway: TestGateway<Program>): Promise<void> {
  const live = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const poor = await gateway.makeKey({ mode: 'live', creditUsd: 0.001 });
  const limited = await gateway.makeKey({ mode: 'live', creditUsd: 5, requestsPerMinute: 1 });
  const trial = await gateway.makeKey({ mode: 'test', creditUsd: 5 });
  const messages = [{ role: 'user', content: 'Hi' }];
  const ask = (key: string, body: object, headers: Record<string, string> = {}) =>
    gateway.post(path, {
      key,
      // Each request has a connection of its own, which some thread gets.
      headers: { connection: 'close', ...headers },
      body: { max_tokens: 50, messages, ...body },
    });
  const upstreamPath = '/local/v1/chat/completions';
  const answer = (input: number) =>
    gateway.upstream.on(
      upstreamPath,
      answerContent('chat', { text: 'Hello', tokens: { input, output: 5 } }),
    );
  answer(31);
  const many = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      ask(index % 4 === 0 ? trial.key : live.key, { model: 'good', stream: index % 2 === 0 }),
    ),
  );
  for (const { status } of many) assert.equal(status, 200);
  for (const status of [200, 429])
    assert.equal((await ask(limited.key, { model: 'good' })).status, status);
  for (let count = 0; count < 2; count++)
    assert.equal(
      (await ask(live.key, { model: 'good' }, { 'idempotency-key': 'one' })).status,
      200,
    );
  answer(9_000);
  assert.equal((await ask(poor.key, { model: 'good' })).status, 200);
  gateway.upstream.on(path, answerStatus(500));
  assert.notEqual((await ask(live.key, { model: 'bad' })).status, 200);
  assert.equal((await ask(live.key, { model: 'unknown' })).status, 404);
}

type Sums = {
  readonly mode: string;
  readonly model_id: string;
  readonly provider: string;
  readonly charged: number | string;
  readonly cost: number | string;
};

async function sumsOfLedger({ database }: TestGateway<Program>): Promise<Sums[]> {
  const mode = sql<string>`case when ledger_id like '%:live' then 'live' else 'test' end`;
  return database.read
    .selectFrom('charges')
    .select(({ fn }) => [
      mode.as('mode'),
      'model_id',
      'provider',
      fn.sum<number | string>('cost_micros').as('charged'),
      fn.sum<number | string>('upstream_cost_micros').as('cost'),
    ])
    .groupBy([mode, 'model_id', 'provider'])
    .execute();
}

/** Starts a Prometheus with the example's settings. Returns what asks it a query. */
async function startPrometheus(
  t: TestContext,
  url: string,
): Promise<(query: string) => Promise<Result[]>> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-prometheus-'));
  const example = readFileSync(join(root, 'deploy/prometheus/prometheus.yml'), 'utf8');
  const settings = example
    .replace('- gateway-1.internal:4000', `- ${new URL(url).host}`)
    .replace(/^.*gateway-2.internal.*\n/m, '')
    .replace('scrape_interval: 15s', 'scrape_interval: 1s');
  writeFileSync(join(folder, 'prometheus.yml'), settings);
  writeFileSync(join(folder, 'metrics-token'), metricsToken, { mode: 0o600 });
  cpSync(join(root, 'deploy/prometheus/alerts.yml'), join(folder, 'alerts.yml'));
  execFileSync('promtool', ['check', 'config', join(folder, 'prometheus.yml')]);
  const child = spawn(
    'prometheus',
    [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      '--web.listen-address=127.0.0.1:0',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (lines: string) => (output += lines));
  t.after(async () => {
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await exited;
    rmSync(folder, { recursive: true, force: true });
  });
  // With port 0 it says where it listens.
  const address = await until(() => /"?Listening on"? address=(\S+)/.exec(output)?.[1]);
  const ask = async (query: string): Promise<Result[]> => {
    const answer = await fetch(
      `http://${address}/api/v1/query?${new URLSearchParams({ query }).toString()}`,
    );
    const body = (await answer.json()) as {
      status: string;
      error?: string;
      data: { result: Result[] };
    };
    assert.equal(body.status, 'success', `${query}: ${body.error}`);
    return body.data.result;
  };
  await until(async () => (await ask('up == 1').catch(() => [])).length === 1);
  return ask;
}
