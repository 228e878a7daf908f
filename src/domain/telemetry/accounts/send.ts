// Sends spans to an account's receiver. The address is checked before each connection, which goes to
// a checked address; redirects are not followed. Problems are shown to the account, so they say
// nothing about the operator's network.
import { withCheckedClient } from '../../../lib/checked-client.ts';
import type { OpenConnector } from '../../../lib/checked-connector.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { PublicHosts } from '../../../lib/public-hosts.ts';
import { type Posted, postOnce } from '../post.ts';
import { tracesUrlOf } from './address.ts';
import type { ExportTarget } from './settings.ts';

export type AccountSender = (
  target: Pick<ExportTarget, 'endpoint' | 'headers'>,
  body: string | Uint8Array,
) => Promise<Posted>;

type SenderOptions = {
  readonly hosts: PublicHosts;
  readonly openConnector?: OpenConnector;
  readonly clock: Clock;
};

export function accountSender({ hosts, openConnector, clock }: SenderOptions): AccountSender {
  return ({ endpoint, headers }, body) => {
    const url = tracesUrlOf(endpoint);
    return postOnce({ url, headers, body, clock }, async (post, signal) => {
      const posted = await withCheckedClient(url, { hosts, openConnector, signal }, post);
      return posted ?? { kind: 'later', problem: 'it has no public address', waitMs: null };
    });
  };
}
