// Several gateways on one PostgreSQL database, with one upstream behind all of them.
//
//   const { replicas, setup, upstream } = await startReplicas(t, { count: 3, config: { models: { … } } });   // ends, and proves the books, with the test
import type { Hooks } from './file-hooks.ts';
import { TestGateway } from './gateway.ts';
import { createDatabase } from './postgres.ts';
import { startProgram, type Program } from './program.ts';
import { startUpstream, type LocalUpstream } from './upstream.ts';

export type Replicas = {
  readonly replicas: readonly Program[];
  /** Makes keys and reads the books, as the command line would. */
  readonly setup: TestGateway;
  readonly upstream: LocalUpstream;
};

type ReplicaOptions = {
  readonly count: number;
  /** On top of two live providers, `openai` and `anthropic`, which are the upstream. */
  readonly config?: object;
  /** Else a new database. */
  readonly databaseUrl?: string;
};

export async function startReplicas(t: Hooks, { count, config, databaseUrl }: ReplicaOptions): Promise<Replicas> {
  const upstream = await startUpstream(t);
  const url = databaseUrl ?? (await createDatabase());
  const whole = {
    providers: {
      openai: { kind: 'openai', base_url: `${upstream.url}/v1`, api_key: 'sk-upstream' },
      anthropic: { kind: 'anthropic', base_url: upstream.url, api_key: 'sk-upstream' },
    },
    limits: { requests_per_minute: null },
    log: { level: 'fatal' },
    ...config,
  };
  // All at once, so that they migrate at once.
  const replicas = await Promise.all(Array.from({ length: count }, () => startProgram({ config: whole, databaseUrl: url })));
  const setup = new TestGateway(replicas[0]!, upstream);
  t.after(async () => {
    await setup.database.close();
    for (const replica of replicas) await replica.stop();
  });
  return { replicas, setup, upstream };
}
