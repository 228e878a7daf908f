// The operator's home: its figures are those of the report, and it tells what needs attention.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { reportTop } from '../../src/domain/ledger/reports/report.ts';
import { recordBackup } from '../../src/management/changes/backups.ts';
import { AuditedChanges } from '../../src/domain/audit/audited-changes.ts';
import { answerContent } from '../support/answers.ts';
import { signIn } from '../support/dashboard.ts';
import { startGateway } from '../support/gateway.ts';
import { modelOf } from '../support/model-of.ts';
import { TestClock } from '../support/test-clock.ts';
import { answerStatus } from '../support/upstream.ts';
import { until } from '../support/until.ts';

const dayMs = 86_400_000;

const clock = new TestClock();
const gateway = await startGateway(
  {
    models: {
      'priced-model': modelOf([{ provider: 'local', model: 'up' }], {
        prices: { input: 1, output: 10 },
      }),
    },
  },
  { clock },
);
gateway.upstream.on(
  '/local/v1/chat/completions',
  answerContent('chat', { text: 'Hello', tokens: { input: 30, output: 5 } }),
);
const operator = await signIn(gateway, { operator: true, role: null });
after(() => gateway.stop());

type Sums = {
  requests: number;
  revenue_micros: number;
  cost_micros: number;
  failed_micros: number;
  uncollected_micros: number;
  margin_micros: number;
};
type Report = { totals: Sums; rows: ({ id: string; name: string | null } & Sums)[] };
type Attention = {
  next_steps: { area: string; what: string; remedy: string | null }[];
  last_backup_at: string | null;
  routes: { provider: string; model: string; state: string }[];
  providers: { name: string; calls: number; failures: number }[];
  low_balances: { account: { id: string }; days_left: number; daily_micros: number }[];
};

const ask = (key: string) =>
  gateway.post('/v1/chat/completions', {
    key,
    body: { model: 'priced-model', max_tokens: 50, messages: [{ role: 'user', content: 'Hi' }] },
  });
const today = () => new Date(clock.nowMs()).toISOString().slice(0, 10);
const attention = async () => (await operator.get('/operator/attention')).json<Attention>();

test('the figures of a range are those of the report, in total and by account, key, model and day', async () => {
  const big = await gateway.makeKey({ mode: 'live', creditUsd: 1, name: 'Big' });
  const small = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
  const costs: number[] = [];
  for (const { key } of [big, big, small]) costs.push((await ask(key)).costMicros!);
  await gateway.provokeLoss(small, 0.25);
  const firstDay = today();
  clock.jumpTo(clock.nowMs() + dayMs);
  costs.push((await ask(small.key)).costMicros!);
  const secondDay = today();

  const range = `mode=live&from=${firstDay}&to=${secondDay}`;
  const reportBy = async (by: string, query = range) =>
    (await operator.get(`/operator/report?${query}&by=${by}`)).json<Report>();
  const { totals, rows } = await reportBy('account');
  const revenue = costs.reduce((sum, cost) => sum + cost, 0);
  assert.deepEqual(
    [totals.requests, totals.revenue_micros, totals.failed_micros],
    [4, revenue, 250_000],
  );
  assert.equal(totals.margin_micros, revenue - totals.cost_micros - 250_000);
  const expected = await reportTop(
    gateway.database.read,
    {
      by: 'account',
      mode: 'live',
      fromMs: Date.parse(firstDay),
      toMs: Date.parse(secondDay) + dayMs,
    },
    100,
  );
  assert.deepEqual(
    rows.map(({ id, revenue_micros: micros }) => [id, micros]),
    expected.map(({ group, revenueMicros: micros }) => [group, micros]),
  );
  assert.deepEqual(new Set(rows.map(({ id }) => id)), new Set([big.account, small.account]));
  assert.ok(rows.every(({ name }) => name === 'Test'));
  for (const by of ['account', 'key', 'model', 'day']) {
    const each = await reportBy(by);
    assert.deepEqual(each.totals, totals);
    for (const field of Object.keys(totals) as (keyof Sums)[]) {
      const sum = each.rows.reduce((total, row) => total + row[field], 0);
      assert.equal(sum, totals[field], `${by} ${field}`);
    }
  }
  assert.ok((await reportBy('key')).rows.some(({ name }) => name === 'Big'));
  assert.deepEqual(
    (await reportBy('day')).rows.map(({ id }) => id),
    [secondDay, firstDay],
  );
  const one = await reportBy('day', `mode=live&from=${secondDay}&to=${secondDay}`);
  assert.deepEqual([one.totals.requests, one.totals.failed_micros], [1, 0]);
  assert.deepEqual((await reportBy('account', range.replace('live', 'test'))).rows, []);
  for (const wrong of ['from=2026-02-30&to=2026-03-01', 'from=2026-03-02&to=2026-03-01']) {
    const refused = await operator.get(`/operator/report?mode=live&by=day&${wrong}`);
    assert.equal(refused.status, 400);
  }
});

test('only operators see it', async () => {
  const owner = await signIn(gateway);
  for (const path of ['report?mode=live&by=day&from=2026-01-01&to=2026-01-01', 'attention'])
    assert.equal((await owner.get(`/operator/${path}`)).status, 404);
});

test('what is missing comes first, and a backup is remembered until it is old', async () => {
  const areas = async () => (await attention()).next_steps.map(({ area }) => area);
  assert.deepEqual((await areas()).slice(0, 2), ['backup', 'mail']);
  assert.equal((await attention()).last_backup_at, null);
  const actor = { kind: 'command', id: 'backup', name: 'tollgate backup', address: null } as const;
  const { database } = gateway;
  await recordBackup(new AuditedChanges({ database, actorOf: () => actor, clock }), null);
  assert.equal((await attention()).last_backup_at, new Date(clock.nowMs()).toISOString());
  assert.ok(!(await areas()).includes('backup'));
  clock.jumpTo(clock.nowMs() + 8 * dayMs);
  const [old] = (await attention()).next_steps;
  assert.equal(old!.what, 'The last backup is 8 days old.');
});

test('balances that run out and providers that fail are listed', async () => {
  // Enough for some more requests only.
  const poor = await gateway.makeKey({ mode: 'live', creditUsd: 0.0006 });
  const { costMicros } = await ask(poor.key);
  clock.jumpTo(clock.nowMs() + dayMs);
  const found = (await attention()).low_balances.find(({ account }) => account.id === poor.account);
  assert.deepEqual(
    [found?.daily_micros, found?.days_left],
    [costMicros, Math.floor((600 - costMicros!) / costMicros!)],
  );

  assert.deepEqual((await attention()).providers, []);
  gateway.upstream.on('/local/v1/chat/completions', answerStatus(500));
  const rich = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
  assert.notEqual((await ask(rich.key)).status, 200);
  const failing = await until(async () => {
    await clock.advance(10_000);
    const { providers } = await attention();
    return providers.length > 0 && providers;
  });
  assert.equal(failing[0]!.name, 'local');
  assert.ok(failing[0]!.failures > 0 && failing[0]!.calls >= failing[0]!.failures);
});
