// How the overview's first figures arrive at a new reader's browser over a slow line: how many bytes, in
// how many round trips one after another. The time depends on the machine, so it is only reported.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { CDPSession } from 'playwright-core';
import { withPage } from '../support/browser.ts';
import { type DashboardClient, signIn } from '../support/dashboard.ts';
import { endpoint } from '../support/endpoints.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { ok } from '../support/http.ts';

const slowLine = {
  offline: false,
  latency: 150,
  downloadThroughput: 1_600_000 / 8,
  uploadThroughput: 750_000 / 8,
};
/** At this line's rate, 320,000 bytes take 1.6 seconds. The calendar's 15,000 may come before or after. */
const bytesMax = 320_000;
/** The page, the session, the figures, and what the page loads beside them. */
const roundTripsMax = 4;
let gateway: TestGateway;
let owner: DashboardClient;

before(async () => {
  gateway = await startGateway();
  owner = await signIn(gateway, { role: 'owner', name: 'Ada Lovelace' });
  const { key } = await gateway.makeKey({ account: owner.account });
  const chat = endpoint('chat');
  await ok(gateway.post(chat.path, { key, body: chat.body() }));
});
after(() => gateway.stop());

/** Times are seconds of the browser's own clock. */
type Load = { readonly path: string; startedAt: number; endedAt: number; bytes: number };

async function watchLoads(cdp: CDPSession): Promise<ReadonlyMap<string, Load>> {
  const loads = new Map<string, Load>();
  cdp.on('Network.requestWillBeSent', ({ requestId, request, timestamp }) => {
    const { pathname } = new URL(request.url);
    loads.set(requestId, { path: pathname, startedAt: timestamp, endedAt: Infinity, bytes: 0 });
  });
  cdp.on('Network.loadingFinished', ({ requestId, timestamp, encodedDataLength }) => {
    Object.assign(loads.get(requestId) ?? {}, { endedAt: timestamp, bytes: encodedDataLength });
  });
  await cdp.send('Network.enable');
  await cdp.send('Network.emulateNetworkConditions', slowLine);
  return loads;
}

/** Returns the longest chain of loads of which each began when the one before had ended. */
function roundTripsOf(loads: readonly Load[]): Load[] {
  const chains = new Map<Load, Load[]>();
  for (const load of loads.toSorted((one, other) => one.startedAt - other.startedAt)) {
    const earlier = [...chains.values()].filter((chain) => chain.at(-1)!.endedAt <= load.startedAt);
    const longest = earlier.toSorted((one, other) => other.length - one.length)[0] ?? [];
    chains.set(load, [...longest, load]);
  }
  return [...chains.values()].toSorted((one, other) => other.length - one.length)[0]!;
}

test('the first figures of the overview need few bytes and few round trips', async (t) => {
  await withPage({ baseUrl: gateway.url, cookie: owner.cookie }, async (page) => {
    const cdp = await page.context().newCDPSession(page);
    const loads = await watchLoads(cdp);
    const begunMs = performance.now();
    await page.goto('/?mode=test', { waitUntil: 'commit' });
    await page.getByText('Spent today').waitFor();
    await page.getByRole('main').getByText(/^\$\d/).first().waitFor();
    const shownMs = performance.now() - begunMs;
    const ended = [...loads.values()].filter(({ endedAt }) => endedAt < Infinity);
    const bytes = ended.reduce((sum, load) => sum + load.bytes, 0);
    // The browser asks for the page's icon when it has time.
    const chain = roundTripsOf(ended.filter(({ path }) => !path.includes('/icon-')));
    const sizes = ended.map(({ path, bytes: size }) => `${path} ${size}`).join(', ');
    t.diagnostic(`${bytes} bytes in ${ended.length} loads, shown after ${Math.round(shownMs)} ms`);
    t.diagnostic(sizes);
    t.diagnostic(chain.map(({ path }) => path).join(' → '));
    assert.ok(bytes < bytesMax, `${bytes} bytes: ${sizes}`);
    assert.ok(chain.length <= roundTripsMax, chain.map(({ path }) => path).join(' → '));
  });
});
