// docs/metrics.md, the dashboard for Grafana and the alert rules name metrics that a gateway has.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { parse } from 'yaml';
import { answerContent } from './support/answers.ts';
import { dashboardQueries, namesIn, readScrape, type Scrape } from './support/prometheus.ts';
import { metricsToken, startGateway } from './support/gateway.ts';
import { answerStatus } from './support/upstream.ts';

const root = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const terms = {
  max_input_tokens: 100_000,
  max_output_tokens: 1_000,
  prices: { input: 1, output: 10 },
};
const path = '/v1/chat/completions';

const gateway = await startGateway({
  metrics: { token: metricsToken },
  models: {
    good: { ...terms, routes: [{ provider: 'local', model: 'good' }] },
    bad: { ...terms, routes: [{ provider: 'openai', model: 'bad' }] },
  },
});
await sendEachKind();
const scrape = await scrapeGateway();
after(() => gateway.stop());

async function scrapeGateway(): Promise<Scrape> {
  return readScrape((await gateway.get('/metrics', { key: metricsToken })).text);
}

/** Sends what gives every metric a value: answers, streams, a replay, failures and refusals. */
async function sendEachKind(): Promise<void> {
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const limited = await gateway.makeKey({ mode: 'live', creditUsd: 5, requestsPerMinute: 1 });
  const content = { text: 'Hello', tokens: { input: 30, output: 5 } };
  const messages = [{ role: 'user', content: 'Hi' }];
  const ask = (body: object, by = key, headers = {}) =>
    gateway.post(path, { key: by, headers, body: { max_tokens: 50, messages, ...body } });
  gateway.upstream.on('/local/v1/chat/completions', answerContent('chat', content));
  const headers = { 'idempotency-key': 'one' };
  for (const status of [200, 200])
    assert.equal((await ask({ model: 'good' }, key, headers)).status, status);
  assert.equal((await ask({ model: 'good' }, limited.key)).status, 200);
  assert.equal((await ask({ model: 'good' }, limited.key)).status, 429);
  assert.equal((await ask({ model: 'good', stream: true })).status, 200);
  gateway.upstream.on(path, answerStatus(500));
  assert.notEqual((await ask({ model: 'bad' })).status, 200);
}

test('docs/metrics.md lists every metric with its type and help, and no other', () => {
  const rows = read('docs/metrics.md').matchAll(
    /^\| `(tollgate_\w+)` \| (\w+) \| ([^|]*) \| (.*) \|$/gm,
  );
  const documented = [...rows].map(([, name, type, , help]) => `${name} ${type} ${help}`);
  const own = [...scrape.metrics].filter(([name]) => name.startsWith('tollgate_'));
  const found = own.map(([name, { type, help }]) => `${name} ${type} ${help}`);
  assert.deepEqual(documented.toSorted(), found.toSorted());
});

test('docs/metrics.md lists the labels of every metric', () => {
  const rows = read('docs/metrics.md').matchAll(/^\| `(tollgate_\w+)` \| \w+ \| ([^|]*) \|/gm);
  const documented = new Map([...rows].map(([, name, labels]) => [name!, labels!.trim()]));
  // A gateway on SQLite has no pools.
  const unseen = [...scrape.metrics].filter(
    ([name, { labels }]) => name.startsWith('tollgate_') && labels === null,
  );
  assert.deepEqual(
    unseen.map(([name]) => name),
    [
      'tollgate_database_connections',
      'tollgate_database_connections_max',
      'tollgate_database_waiting',
    ],
  );
  for (const [name, { labels }] of scrape.metrics)
    if (labels && name.startsWith('tollgate_'))
      assert.equal(
        documented.get(name),
        [...labels].filter((label) => label !== 'le').join(', '),
        name,
      );
});

/** Fails when the query names a metric or a label that no gateway has. */
function assertKnown(query: string): void {
  const { metrics, labels } = namesIn(query);
  assert.ok(metrics.length > 0, `no metric in ${query}`);
  const targetLabels = ['instance', 'job'];
  for (const name of metrics)
    assert.ok(scrape.metrics.has(name) || name === 'up', `${name} is unknown: ${query}`);
  const known = metrics.flatMap((name) => [...(documentedLabels().get(name) ?? [])]);
  for (const label of labels)
    assert.ok([...known, ...targetLabels, 'le'].includes(label), `no ${label} in ${query}`);
}

function documentedLabels(): Map<string, string[]> {
  const rows = read('docs/metrics.md').matchAll(/^\| `(tollgate_\w+)` \| \w+ \| ([^|]*) \|/gm);
  return new Map([...rows].map(([, name, labels]) => [name!, labels!.trim().split(', ')]));
}

test('each query of the Grafana dashboard names metrics and labels that a gateway has', () => {
  const queries = dashboardQueries(read('deploy/grafana/tollgate.json'));
  assert.ok(queries.length > 40);
  for (const { query } of queries) assertKnown(query);
});

test('the panels of the Grafana dashboard do not overlap, and each has its own id', () => {
  type Panel = { id: number; gridPos: { x: number; y: number; w: number; h: number } };
  const { panels } = JSON.parse(read('deploy/grafana/tollgate.json')) as { panels: Panel[] };
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, index) => `${x + (index % w)} ${y + Math.floor(index / w)}`),
  );
  assert.equal(new Set(cells).size, cells.length);
});

test('each alert names metrics that a gateway has, and a section of docs/metrics.md that says what to do', () => {
  type Rule = { alert: string; expr: string; annotations: Record<string, string>; labels: object };
  const { groups } = parse(read('deploy/prometheus/alerts.yml')) as { groups: { rules: Rule[] }[] };
  const rules = groups.flatMap((group) => group.rules);
  for (const { alert, expr, annotations } of rules) {
    assertKnown(expr);
    assert.deepEqual(Object.keys(annotations), ['summary', 'description', 'runbook']);
    assert.equal(annotations['runbook'], `docs/metrics.md#${alert.toLowerCase()}`);
  }
  const sections = [...read('docs/metrics.md').matchAll(/^### (Tollgate\w+)$/gm)];
  assert.deepEqual(
    sections.map(([, name]) => String(name)).toSorted(),
    rules.map(({ alert }) => alert).toSorted(),
  );
});

test('each alert has a test in which it fires and one in which it is quiet', () => {
  type Test = { name: string; alert_rule_test: { exp_alerts: object[] }[] };
  const tests = ['alerts', 'slow-alerts'].flatMap(
    (name) => (parse(read(`tests/volume/prometheus/${name}.test.yml`)) as { tests: Test[] }).tests,
  );
  const alerts = [...read('deploy/prometheus/alerts.yml').matchAll(/- alert: (\w+)/g)];
  assert.deepEqual(
    tests
      .map(({ name, alert_rule_test: [first] }) => `${name}: ${first!.exp_alerts.length > 0}`)
      .toSorted(),
    alerts.flatMap(([, name]) => [`${name} fires: true`, `${name} is quiet: false`]).toSorted(),
  );
});

test('a client cannot make label values', async () => {
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const send = async (name: string) => {
    const messages = [{ role: 'user', content: 'Hi' }];
    for (const model of [name, 'good'])
      await gateway.post(path, {
        key,
        headers: { 'x-request-id': name, 'user-agent': name },
        body: { model, messages, user: name, metadata: { [name]: name } },
      });
    await gateway.get(`/${name}`);
    await gateway.get(`/v1/models/${name}`, { key });
    await gateway.post(`/v1/${name}`, { key, body: {} });
    await gateway.post('/v1/web-search', { key, body: { query: name } });
    await gateway.get('/v1/balance', { key: name });
  };
  await send('first-invented');
  const known = (await scrapeGateway()).series;
  for (let number = 0; number < 5; number++) await send(`invented-${number}`);
  const found = (await scrapeGateway()).series;
  const isOwn = (series: string) => series.startsWith('tollgate_');
  assert.deepEqual(found.filter(isOwn), known.filter(isOwn));
  assert.equal(
    found.find((series) => series.includes('invented')),
    undefined,
  );
});
