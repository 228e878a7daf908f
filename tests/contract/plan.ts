// How a store runs a query.
import { CompiledQuery, type Kysely, type RootOperationNode, sql as query } from 'kysely';
import type { Database } from '../../src/db/database.ts';
import type { Tables } from '../../src/db/schema.ts';
import type { StoreKind } from './stores.ts';

/** Returns the plan of the first query that `run` sends. */
export function planOf(
  { read }: Database,
  { dialect }: StoreKind,
  run: (db: Kysely<Tables>) => Promise<unknown>,
): Promise<string> {
  return read.transaction().execute(async (transaction) => {
    // Only so few rows are better read without an index.
    if (dialect === 'postgres') await query`set local enable_seqscan = off`.execute(transaction);
    const nodes: RootOperationNode[] = [];
    await run(
      transaction.withPlugin({
        transformQuery: ({ node }) => {
          nodes.push(node);
          return node;
        },
        transformResult: async ({ result }) => result,
      }),
    );
    const { sql, parameters } = transaction
      .getExecutor()
      .compileQuery(nodes[0]!, { queryId: 'plan' });
    const explain = dialect === 'sqlite' ? 'explain query plan' : 'explain (costs off)';
    const asked = CompiledQuery.raw(`${explain} ${sql}`, [...parameters]);
    const { rows } = await transaction.executeQuery<Record<string, unknown>>(asked);
    return rows.map((row) => String(row['detail'] ?? row['QUERY PLAN'])).join('\n');
  });
}
