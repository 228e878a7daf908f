// What a real OpenTelemetry collector receives: the collector's own receiver, built from its Go
// module, takes the exports of the built program with several threads, and the spans and sums are
// compared with the ledger. Needs Go, or Python, which installs it. In CI a missing one fails;
// elsewhere it skips the test.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test, type TestContext } from 'node:test';
import { answerContent } from '../../support/answers.ts';
import { endpointOf } from '../../support/two-routes.ts';
import { startGatewayProgram } from '../../support/gateway.ts';
import { goEnv } from '../../support/go.ts';
import { readPoints, readSpans, traceOf } from '../../support/otlp-receiver.ts';
import { installPython, skipWithoutPython } from '../../support/python.ts';
import { until } from '../../support/until.ts';
import { rowOf } from '../../support/rows.ts';

const hasGo = spawnSync('go', ['version']).status === 0;
const skip = hasGo ? false : skipWithoutPython;

function findGo(): string {
  if (hasGo) return 'go';
  return join(installPython(join(import.meta.dirname, 'requirements.txt')), 'bin', 'go');
}

/** Builds the collector once for each content of its sources. Returns the program's path. */
function buildCollector(): string {
  const folder = join(import.meta.dirname, 'collector');
  const hash = createHash('sha256');
  for (const file of ['main.go', 'go.mod', 'go.sum']) hash.update(readFileSync(join(folder, file)));
  const name = `tollgate-collector-${hash.digest('hex').slice(0, 12)}-${userInfo().uid}`;
  const program = join(tmpdir(), name);
  if (existsSync(program)) return program;
  execFileSync(findGo(), ['build', '-C', folder, '-o', `${program}.new`, '.'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...goEnv },
  });
  renameSync(`${program}.new`, program);
  return program;
}

/** Starts the collector. `bodies`: the exports of a signal so far. */
async function startCollector(t: TestContext) {
  const child = spawn(buildCollector(), [], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.stdin.end());
  const exported: { readonly signal: string; readonly body: unknown }[] = [];
  const address = Promise.withResolvers<string>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const end = line.indexOf(' ');
    const [signal, rest] = [line.slice(0, end), line.slice(end + 1)];
    if (signal === 'listening') address.resolve(rest);
    else exported.push({ signal, body: JSON.parse(rest) });
  });
  const bodies = (signal: string) =>
    exported.filter((each) => each.signal === signal).map(({ body }) => body);
  return { url: await address.promise, bodies };
}

test(
  'a real collector gets the spans and sums of several threads as the ledger has them',
  { skip },
  async (t) => {
    const collector = await startCollector(t);
    const gateway = await startGatewayProgram(
      { server: { threads: 2 }, telemetry: { endpoint: collector.url } },
      { env: { OTEL_METRIC_EXPORT_INTERVAL: '200' } },
    );
    t.after(() => gateway.stop());
    const { upstreamPath, path, body } = endpointOf('chat');
    gateway.upstream.on(
      '/v1/responses',
      answerContent('responses', { text: 'yes', tokens: { input: 40, output: 12 } }),
    );
    gateway.upstream.on(
      upstreamPath,
      answerContent('chat', { text: 'yes', tokens: { input: 40, output: 12 } }),
    );
    const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 50 });
    const ask = (stream: boolean) =>
      gateway.post(path, {
        key,
        headers: { connection: 'close' },
        body: body({ model: 'gpt-6-luna', stream }),
      });
    const replies = await Promise.all(
      Array.from({ length: 40 }, (_, index) => ask(index % 2 === 0)),
    );
    for (const reply of replies) {
      assert.equal(reply.status, 200, reply.text);
      const { request, holds, calls, settlements } = await until(() =>
        traceOf(readSpans(collector.bodies('traces')), reply.requestId),
      );
      const charge = await rowOf(gateway.database, 'charges', { id: reply.requestId });
      for (const { attributes } of [request, ...settlements])
        assert.equal(attributes['tollgate.cost.micros'], charge.cost_micros);
      assert.equal(request.attributes['gen_ai.usage.output_tokens'], charge.output_tokens);
      assert.deepEqual([holds.length, calls.length, settlements.length], [1, 1, 1]);
      assert.deepEqual([request.kind, calls[0]!.kind], [2, 3]);
    }
    const rows = await gateway.database.read.selectFrom('charges').select('cost_micros').execute();
    const charged = rows.reduce((sum, row) => sum + row.cost_micros, 0);
    const points = (metric: string) => readPoints(collector.bodies('metrics'), metric);
    await until(
      () => points('tollgate.charged').reduce((sum, point) => sum + point.sum, 0) === charged,
    );
    const requests = points('gen_ai.server.request.duration');
    assert.equal(
      requests.reduce((sum, { count }) => sum + count, 0),
      replies.length,
    );
    assert.equal(new Set(requests.map(({ instance }) => instance)).size, 2, 'both threads export');
  },
);
