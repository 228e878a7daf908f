// Who is signed in, and what this installation offers. Asked for once, before any page.
import { queryOptions, useSuspenseQuery, type QueryClient } from '@tanstack/react-query';
import { call } from './client.ts';

export type SessionInfo = {
  /** null: nobody is signed in. */
  readonly user: User | null;
  readonly accounts: readonly {
    readonly id: string;
    readonly name: string;
    readonly role: 'member' | 'admin' | 'owner';
    readonly frozen: boolean;
  }[];
  readonly features: {
    readonly signup_open: boolean;
    readonly smtp: boolean;
    readonly oidc_name: string | null;
    readonly stripe: boolean;
    readonly test_mode: boolean;
    readonly service_name: string;
    /** Where clients reach the API; no slash at its end. */
    readonly public_url: string;
  };
};

export type User = {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly email_verified: boolean;
  readonly is_operator: boolean;
  readonly second_factor: boolean;
};

export const sessionQuery = queryOptions({
  queryKey: ['GET /session'],
  queryFn: ({ signal }) => call<SessionInfo>('GET', '/session', undefined, signal),
  staleTime: 60_000,
});

/** Whoever asks, signed in or not. */
export function useSession(): SessionInfo {
  return useSuspenseQuery(sessionQuery).data;
}

/** On pages behind the sign-in, where there is one. */
export function useUser(): User {
  const { user } = useSession();
  if (!user) throw new Error('Nobody is signed in.');
  return user;
}

/** The session has ended: goes where `go` leads, and forgets what the user has seen. */
export async function leave(client: QueryClient, go: () => Promise<unknown>): Promise<void> {
  client.setQueryData(sessionQuery.queryKey, (known) => known && { ...known, user: null, accounts: [] });
  await go();
  client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionQuery.queryKey[0] });
}
