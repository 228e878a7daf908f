// A connection for one request to a URL that somebody else named: its host is checked right before, and
// the connection goes to a checked address.
import type { Dispatcher } from 'undici';
import { checkedConnector, type OpenConnector } from './checked-connector.ts';
import type { PublicHosts } from './public-hosts.ts';
import { Client } from './undici.ts';

export type CheckedOptions = {
  readonly hosts: Pick<PublicHosts, 'find'>;
  readonly openConnector?: OpenConnector | undefined;
  readonly signal: AbortSignal;
};

/** Returns null, without a request, when the host has no address that may be used. */
export async function withCheckedClient<Result>(
  url: URL,
  { hosts, openConnector = checkedConnector, signal }: CheckedOptions,
  use: (client: Dispatcher) => Promise<Result>,
): Promise<Result | null> {
  const found = await hosts.find(url, signal);
  if (found.kind !== 'found') return null;
  const connect = openConnector(found.addresses);
  const client = new Client(url.origin, { connect, pipelining: 0 });
  try {
    return await use(client);
  } finally {
    void client.destroy().catch(() => {});
  }
}
