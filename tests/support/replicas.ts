// Several gateways on one PostgreSQL database, with one shared upstream.
//
//   // Stops, and verifies the books, with the test.
//   const { replicas, setup, upstream } = await startReplicas(t, { count: 3, config: { … } });
import type { Hooks } from './file-hooks.ts';
import { TestGateway } from './gateway.ts';
import { createEmptyDatabase } from './postgres.ts';
import type { Installation, InstallationOptions } from './installation.ts';
import { startProgram, type Program } from './program.ts';
import { startRunningApp, type RunningApp } from './running-app.ts';
import { TestClock } from './test-clock.ts';
import { startUpstream, type LocalUpstream } from './upstream.ts';

export type Replicas<Started extends Installation = RunningApp> = {
  readonly replicas: readonly Started[];
  /** Makes keys and reads the books, as the command line does. */
  readonly setup: TestGateway;
  readonly upstream: LocalUpstream;
};

type ReplicaOptions = {
  readonly count: number;
  /**
   * Merged into a configuration with two live providers, `openai` and `anthropic`, which lead to
   * the upstream.
   */
  readonly config?: InstallationOptions['config'];
  /** Default: a new database without tables, which all gateways migrate at once. */
  readonly databaseUrl?: string;
};

/**
 * `clock`: one for all gateways and the database, or one for each. A gateway whose clock stands
 * still looks dead to the others.
 */
type InProcess = ReplicaOptions & { readonly clock?: TestClock | readonly TestClock[] };

/** Starts them in this process. */
export function startReplicas(t: Hooks, { clock, ...options }: InProcess): Promise<Replicas> {
  const clockOf = (index: number) => (clock instanceof TestClock ? clock : clock?.[index]);
  return startAll(t, options, (gateway, index) =>
    startRunningApp({ ...gateway, clock: clockOf(index) }),
  );
}

/** Starts them as separate processes with two HTTP threads each, for tests that kill them. */
export function startReplicaPrograms(
  t: Hooks,
  options: ReplicaOptions,
): Promise<Replicas<Program>> {
  const config = { ...options.config, server: { threads: 2, ...options.config?.server } };
  return startAll(t, { ...options, config }, (gateway) => startProgram(gateway));
}

async function startAll<Started extends Installation>(
  t: Hooks,
  { count, config, databaseUrl }: ReplicaOptions,
  start: (options: InstallationOptions, index: number) => Promise<Started>,
): Promise<Replicas<Started>> {
  const upstream = await startUpstream(t);
  const url = databaseUrl ?? (await createEmptyDatabase());
  const whole = {
    providers: {
      openai: { kind: 'openai', base_url: `${upstream.url}/v1`, api_key: 'sk-upstream' },
      anthropic: { kind: 'anthropic', base_url: upstream.url, api_key: 'sk-upstream' },
    },
    limits: { requests_per_minute: null },
    log: { level: 'fatal' },
    ...config,
  };
  // Started together, so that they migrate concurrently.
  const starting = Array.from({ length: count }, (_, index) =>
    start({ config: whole, databaseUrl: url }, index),
  );
  const replicas = await Promise.all(starting);
  const setup = new TestGateway<Installation>(replicas[0]!, upstream);
  t.after(async () => {
    await setup.database.close();
    for (const replica of replicas) await replica.stop();
  });
  return { replicas, setup, upstream };
}
