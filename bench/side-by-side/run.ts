// `npm run bench:peers [-- --quick] [--only relay,litellm] [--rounds 5] [--rates 25,250]
// [--out FILE]`: Tollgate beside other gateways. Installs them from public registries, then measures
// them without a network (see inside.ts). ../README.md says what is compared.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { pinTo } from '../child.ts';
import { peers } from '../peers/all.ts';
import type { Plan } from './inside.ts';
import { runIsolated } from './isolation.ts';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    rounds: { type: 'string' },
    rates: { type: 'string', default: '25,250' },
    out: { type: 'string' },
  },
});

const wanted = values.only?.split(',') ?? peers.map(({ name }) => name);
const unknown = wanted.filter((name) => !peers.some((peer) => peer.name === name));
if (unknown.length > 0) throw new Error(`no such peers: ${unknown.join(', ')}`);

const versions: Record<string, string> = {};
const skipped: Record<string, string> = {};
for (const { name, install } of peers) {
  // The relay is what the others are compared with.
  if (!wanted.includes(name) && name !== 'relay') {
    skipped[name] = 'not in --only';
    continue;
  }
  try {
    versions[name] = install();
  } catch (error) {
    skipped[name] = (error as Error).message;
  }
}

const { quick } = values;
const plan: Plan = {
  versions,
  skipped,
  rounds: Number(values.rounds ?? (quick ? 1 : 5)),
  rates: values.rates.split(',').map(Number),
  warmUpMs: quick ? 1_000 : 4_000,
  closedMs: quick ? 1_000 : 3_000,
  openMs: quick ? 2_000 : 4_000,
  out: values.out ?? null,
};
const inside = join(import.meta.dirname, 'inside.ts');
process.exitCode = runIsolated([
  // This process is pinned; the next one chooses its cores anew.
  ...pinTo('any'),
  process.execPath,
  inside,
  JSON.stringify(plan),
]);
