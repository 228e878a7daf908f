// Who is signed in, and what this installation offers. Asked for once, before any page.
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { api, type Output } from './client.ts';

export type SessionInfo = Output<'GET /session'>;
export type User = NonNullable<SessionInfo['user']>;

export const sessionQuery = queryOptions({
  queryKey: ['GET /session'],
  queryFn: ({ signal }) => api('GET /session', {}, signal),
  staleTime: 60_000,
});

/** Whoever asks, signed in or not. */
export function useSession(): SessionInfo {
  return useSuspenseQuery(sessionQuery).data;
}

/** What the operator calls the service; the program's own name where that was left as it comes. */
export function useServiceName(): string {
  const { service_name: name } = useSession().features;
  return name === 'Service' ? 'Tollgate' : name;
}

/** On pages behind the sign-in, where there is one. */
export function useUser(): User {
  const { user } = useSession();
  if (!user) throw new Error('Nobody is signed in.');
  return user;
}

/** The session has ended. A fresh page forgets all that the user has seen. `next`: where to come back to. */
export function leave(next?: string): void {
  location.assign(next === undefined ? '/sign-in' : `/sign-in?${new URLSearchParams({ next })}`);
}
