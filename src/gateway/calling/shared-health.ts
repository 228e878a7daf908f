// The memory in which the threads of a process share the records of routes (health.ts).

export type RouteName = {
  readonly provider: string;
  readonly upstreamModel: string;
  /** The account's own key that is used there; left out: the operator's credential. */
  readonly ownKeyId?: string;
};

/** The operator's routes have the names of the configuration; one of own keys has more. */
export function keyOfRoute({ provider, upstreamModel, ownKeyId = '' }: RouteName): string {
  // Names of providers and ids contain no spaces.
  return `${provider}${ownKeyId} ${upstreamModel}`;
}

/** The records that threads share. A route without a name here has a record in each thread. */
export type SharedHealth = {
  readonly names: readonly RouteName[];
  readonly memory: SharedArrayBuffer;
};

export const recordLength = 12;
export const recordBytes = recordLength * Float64Array.BYTES_PER_ELEMENT;
/** The lock and the number of ejected routes. */
export const headBytes = 8;

/** The room for routes that come while the process runs. */
const furtherRoutes = 2_048;

/** Makes records for these routes, to be passed to every thread of the process. */
export function shareHealth(names: readonly RouteName[]): SharedHealth {
  const records = names.length === 0 ? 0 : names.length + furtherRoutes;
  return { names, memory: new SharedArrayBuffer(headBytes + records * recordBytes) };
}

/** Returns the names with those behind them that are new, as far as there is room. */
export function withFurther({ names, memory }: SharedHealth, wanted: readonly RouteName[]) {
  const room = Math.floor((memory.byteLength - headBytes) / recordBytes);
  const known = new Set(names.map(keyOfRoute));
  return [...names, ...wanted.filter((name) => !known.has(keyOfRoute(name)))].slice(0, room);
}
