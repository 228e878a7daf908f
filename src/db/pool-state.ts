// How the connections of a PostgreSQL pool are used, for the metrics.

export type PoolState = {
  /** What the pool is for, such as `read`. */
  readonly name: string;
  readonly used: number;
  readonly idle: number;
  /** Callers that wait for a connection. */
  readonly waiting: number;
  readonly max: number;
};

type CountedPool = {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
};

export function poolStateOf(name: string, pool: CountedPool, max: number): PoolState {
  const { totalCount, idleCount, waitingCount } = pool;
  return { name, used: totalCount - idleCount, idle: idleCount, waiting: waitingCount, max };
}
