// Runs before the app has loaded: starts the requests for the session and for the first figures of
// the overview, which would otherwise wait for the code.
import type { SessionInfo } from '../api/session.ts';
import { chooseAccount } from '../api/choose-account.ts';
import { startEarly } from '../api/early-requests.ts';

const session = startEarly('/dashboard-api/session');
if (location.pathname === '/') void startOverview();

async function startOverview(): Promise<void> {
  const answer = await session;
  if (!answer.ok) return;
  const { accounts } = (await answer.clone().json()) as SessionInfo;
  const search = new URLSearchParams(location.search);
  const account = chooseAccount(accounts, search.get('account') ?? undefined);
  const mode = search.get('mode') === 'test' ? 'test' : 'live';
  if (account) void startEarly(`/dashboard-api/accounts/${account.id}/overview?mode=${mode}`);
}
