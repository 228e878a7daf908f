// Waiting until a gateway has noticed the changes of keys and accounts, which it polls for once a second.
import type { TestGateway } from './gateway.ts';
import { send } from './http.ts';
import type { TestClock } from './test-clock.ts';
import { until, untilNoticed } from './until.ts';

type Options = {
  /** The clock of the gateways; left out: they run on the machine's. */
  readonly clock?: TestClock;
  /** Left out: the gateway's own. */
  readonly urls?: readonly string[];
};

/** All keys have one revision: a key that is revoked last is refused only where every earlier change is known. */
export async function noticeKeyChanges(gateway: TestGateway, { clock, urls = [gateway.url] }: Options = {}): Promise<void> {
  const { id, key } = await gateway.makeKey();
  const isKnown = async (url: string) => (await send(`${url}/v1/balance`, { key })).status === 200;
  await Promise.all(urls.map((url) => until(() => isKnown(url))));
  await gateway.database.write.updateTable('api_keys').set({ revoked_at_ms: 1 }).where('id', '=', id).execute();
  const isUnknown = async (url: string) => !(await isKnown(url));
  const isUnknownToAll = async () => (await Promise.all(urls.map(isUnknown))).every(Boolean);
  await (clock ? untilNoticed(clock, isUnknownToAll) : until(isUnknownToAll));
}
