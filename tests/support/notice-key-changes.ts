// Waits until a gateway has noticed changes of keys and accounts, for which it polls once a second.
import type { TestGateway } from './gateway.ts';
import { send } from './http.ts';
import type { TestClock } from './test-clock.ts';
import { until, untilNoticed } from './until.ts';

type Options = {
  /** The gateways' clock; left out: the system's. */
  readonly clock?: TestClock;
  /** Default: the gateway's own URL. */
  readonly urls?: readonly string[];
};

/**
 * All keys share one revision: once the last change, a revoked key, is in effect, all earlier
 * changes are too.
 */
export async function noticeKeyChanges(
  gateway: TestGateway,
  { clock, urls = [gateway.url] }: Options = {},
): Promise<void> {
  const { id, key } = await gateway.makeKey();
  const isKnown = async (url: string) => (await send(`${url}/v1/balance`, { key })).status === 200;
  await Promise.all(urls.map((url) => until(() => isKnown(url))));
  await gateway.database.write
    .updateTable('api_keys')
    .set({ revoked_at_ms: 1 })
    .where('id', '=', id)
    .execute();
  const isUnknown = async (url: string) => !(await isKnown(url));
  const isUnknownToAll = async () => (await Promise.all(urls.map(isUnknown))).every(Boolean);
  await (clock ? untilNoticed(clock, isUnknownToAll) : until(isUnknownToAll));
}
