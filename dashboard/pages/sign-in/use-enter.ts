import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { sessionQuery } from '../../api/session.ts';

/** To a page of the dashboard, as whoever is now signed in: nothing that was asked before is kept. */
export function useEnter(): (next: string) => Promise<void> {
  const router = useRouter();
  const client = useQueryClient();
  return async (next) => {
    await client.fetchQuery({ ...sessionQuery, staleTime: 0 });
    client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionQuery.queryKey[0] });
    router.history.replace(next);
  };
}
