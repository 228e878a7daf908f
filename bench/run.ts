// `npm run bench [-- --quick]`: what the gateway adds to a request, in one run against a bare relay
// and the bare upstream. Options: `--profile <workload>`: where its time goes; `--hits`: cache hits
// and replays; `--instructions`: instructions of a request, on a busy machine too; `--threads`: what
// HTTP threads cost; `--open-streams`: memory of many silent streams; `--slow-readers`: memory of
// streams that nobody reads fast enough; `--ledger`: the ledger alone; `--history`: reads on a long
// history; `--growth`: a month of whole books; `--affinity`: prompt caches of three routes;
// `--telemetry`: the export of spans; `--beside <checkout>`: another version in the same run;
// `--stores`: SQLite and PostgreSQL. README.md explains the results.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { benchAffinity } from './affinity.ts';
import { benchBeside, benchStores } from './beside.ts';
import { startChild } from './child.ts';
import { compare, measureOpen, type Scale } from './compare.ts';
import { installGateway } from './gateway.ts';
import { benchGrowth } from './growth.ts';
import { benchHistory } from './history.ts';
import { benchHits } from './hits.ts';
import { benchInstructions } from './instructions.ts';
import { benchLedger } from './ledger.ts';
import { describeMachine } from './machine.ts';
import { profileGateway } from './profile.ts';
import { benchSlowReaders } from './slow-readers.ts';
import { benchSoak } from './soak.ts';
import { benchTelemetry } from './telemetry.ts';
import { benchThreads } from './threads.ts';

const full: Scale = {
  // V8 is still compiling after the first ten thousand requests.
  warmUp: { durationMs: 4_000, clients: 64 },
  whole: { rounds: 3, durationMs: 400, clients: [1, 8, 64] },
  streams: { rounds: 2, durationMs: 500, clients: [1, 8, 64] },
  openStreams: 2_000,
  starts: 5,
};
/** For a quick look: one round, so other load on the machine distorts it. */
const quick: Scale = {
  warmUp: { durationMs: 400, clients: 64 },
  whole: { rounds: 1, durationMs: 250, clients: [1, 64] },
  streams: { rounds: 1, durationMs: 250, clients: [8] },
  openStreams: 200,
  starts: 1,
};

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    profile: { type: 'string' },
    hits: { type: 'boolean', default: false },
    instructions: { type: 'boolean', default: false },
    threads: { type: 'boolean', default: false },
    stores: { type: 'boolean', default: false },
    ledger: { type: 'boolean', default: false },
    history: { type: 'boolean', default: false },
    'open-streams': { type: 'string' },
    growth: { type: 'boolean', default: false },
    store: { type: 'string' },
    'slow-readers': { type: 'boolean', default: false },
    soak: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '30' },
    readers: { type: 'string', default: '2000' },
    charges: { type: 'string', default: '10000000' },
    telemetry: { type: 'boolean', default: false },
    affinity: { type: 'boolean', default: false },
    beside: { type: 'string' },
  },
});
if (values.affinity) {
  console.log(`\n${await benchAffinity()}`);
  process.exit();
}
if (values.ledger) {
  console.log(`\n${describeMachine(tmpdir())}\n\n${await benchLedger(values.quick ? 300 : 2_000)}`);
  process.exit();
}
if (values.history) {
  console.log(`\n${describeMachine(tmpdir())}\n\n${await benchHistory(Number(values.charges))}`);
  process.exit();
}
if (values.growth) {
  const report = await benchGrowth(Number(values.charges), values.store);
  console.log(`\n${describeMachine(tmpdir())}\n\n${report}`);
  process.exit();
}
if (values.telemetry) {
  console.log(`\n${describeMachine(tmpdir())}\n\n${await benchTelemetry(values.beside)}`);
  process.exit();
}
const upstream = await startChild({
  script: join(import.meta.dirname, 'upstream.ts'),
  core: 'bench',
});
const installation = installGateway(upstream.port);
try {
  console.log(`\n${describeMachine(installation.dataDir)}\n`);
  if (values.hits) console.log(await benchHits(installation, values.quick ? 50 : 400));
  else if (values.instructions) console.log(await benchInstructions(installation, upstream.port));
  else if (values.beside !== undefined)
    console.log(await benchBeside(upstream.port, values.beside, values.quick ? 50 : 250));
  else if (values.stores) console.log(await benchStores(upstream.port, values.quick ? 50 : 250));
  else if (values.threads)
    console.log(await benchThreads(upstream.port, values.quick ? 500 : 2_000));
  else if (values.soak) console.log(await benchSoak(upstream.port, Number(values.minutes)));
  else if (values['open-streams'] !== undefined)
    console.log(await measureOpen(installation, Number(values['open-streams'])));
  else if (values['slow-readers'])
    console.log(await benchSlowReaders(installation, Number(values.readers)));
  else if (values.profile === undefined)
    await compare(installation, upstream, values.quick ? quick : full);
  else console.log(await profileGateway(installation, values.profile));
} finally {
  await upstream.stop();
  installation.remove();
}
