// Profiles the gateway's CPU under load. `--cpu-prof` writes one profile per thread.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeProfile, type CpuProfile } from './cpu-profile.ts';
import type { Installation } from './gateway.ts';
import { underLoad } from './load.ts';
import { hits } from './hits.ts';
import { streams, wholeAnswers } from './workloads.ts';

const warmUpMs = 4_000;
const loadMs = 8_000;
const clients = 64;

/** Throws when there is no workload with this name. */
export async function profileGateway({ start, key }: Installation, name: string): Promise<string> {
  const all = [...wholeAnswers, ...streams, ...hits];
  const workload = all.find((one) => one.name === name);
  if (!workload)
    throw new Error(
      `there is no workload ${name}; there are ${all.map((one) => one.name).join(', ')}`,
    );
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-profile-'));
  const gateway = await start({
    core: 'any',
    nodeArguments: ['--cpu-prof', '--cpu-prof-interval=200', `--cpu-prof-dir=${folder}`],
  });
  const target = { port: gateway.port, request: workload.asked, key };
  await underLoad(target, { clients, durationMs: warmUpMs }, (load) => load());
  const span = await underLoad(target, { clients, durationMs: loadMs }, async (load) => {
    const fromMicros = nowMicros();
    const { wholeMs } = await load();
    return { fromMicros, toMicros: nowMicros(), requests: wholeMs.length };
  });
  await gateway.stop();
  const profiles = readdirSync(folder).map(
    (file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as CpuProfile,
  );
  rmSync(folder, { recursive: true });
  return profiles.map((profile) => describeProfile(profile, span)).join('\n\n');
}

/** V8's samples carry the same monotonic time. */
function nowMicros(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}
