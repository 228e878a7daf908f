// The signed-in user and the features of this installation. Loaded once, before any page.
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { removeKept } from './browser-store.ts';
import { api, type Output } from './client.ts';
import { discardDrafts } from './draft-store.ts';

export type SessionInfo = Output<'GET /session'>;
type User = NonNullable<SessionInfo['user']>;

export const sessionQuery = queryOptions({
  queryKey: ['GET /session'],
  queryFn: ({ signal }) => api('GET /session', {}, signal),
  staleTime: 60_000,
});

/** Returns the session of a user or of a visitor. */
export function useSession(): SessionInfo {
  return useSuspenseQuery(sessionQuery).data;
}

/** Returns the service's name. An unchanged default becomes the program's own name. */
export function useServiceName(): string {
  const { service_name: name } = useSession().features;
  return name === 'Service' ? 'Tollgate' : name;
}

/** Returns the signed-in user. For pages that require sign-in. */
export function useUser(): User {
  const { user } = useSession();
  if (!user) throw new Error('No user is signed in.');
  return user;
}

/** Loads the sign-in page afresh, so that nothing of the session stays in memory. */
function goToSignIn(search: Readonly<Record<string, string>> = {}): void {
  const text = new URLSearchParams(search).toString();
  location.assign(text === '' ? '/sign-in' : `/sign-in?${text}`);
}

/** Asks the user to sign in again, says why, and returns to this page afterwards. */
export function signInAgain(): void {
  const { pathname, search } = location;
  if (pathname !== '/sign-in') goToSignIn({ next: pathname + search, reason: 'expired' });
}

const signedOutName = 'tollgate.signed-out';

/** Call it after signing out: all tabs of this browser leave their pages, and nothing is kept. */
export async function leaveAllTabs(): Promise<void> {
  discardDrafts();
  localStorage.setItem(signedOutName, new Date().toISOString());
  await removeKept();
  goToSignIn();
}

/** Leaves the page when the user signs out in another tab. */
export function followSignOut(): void {
  addEventListener('storage', ({ key }) => {
    if (key !== signedOutName) return;
    discardDrafts();
    goToSignIn();
  });
}
