// Checks a one-time link before its page shows anything.
import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { ApiError } from '../../api/api-error.ts';
import { api, type Output } from '../../api/client.ts';
import { useUrlState } from '../../parts/url-state.ts';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { Card } from './card.tsx';

type Props = {
  readonly kind: Output<'POST /auth/link'>['kind'];
  /** How to get a new link. */
  readonly remedy: ReactNode;
  readonly children: (token: string, link: Output<'POST /auth/link'>) => ReactNode;
};

export function OneTimeLink({ kind, remedy, children }: Props) {
  const [token] = useUrlState((search) => search.token ?? '');
  const link = useTokenQuery('link', token, () => api('POST /auth/link', { body: { token } }));
  if (link.isPending && token !== '') return <LoadingCard />;
  if (link.data?.kind === kind) return children(token, link.data);
  if (link.error && link.error.status !== 404)
    return <FailedCard error={link.error} onRetry={() => void link.refetch()} />;
  return (
    <Card
      title="This link is no longer valid"
      text="It was already used, has expired, or is incomplete."
      footer={remedy}
    />
  );
}

/** Never refetches: the page itself uses up the link. */
export function useTokenQuery<Answer>(name: string, token: string, read: () => Promise<Answer>) {
  return useQuery<Answer, ApiError>({
    queryKey: [name, token],
    queryFn: read,
    enabled: token !== '',
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  });
}

export function LoadingCard() {
  return (
    <Card title="Loading">
      <Skeleton h={36} />
      <Skeleton h={36} />
    </Card>
  );
}

export function FailedCard({
  error,
  onRetry,
}: {
  readonly error: ApiError;
  readonly onRetry: () => void;
}) {
  return (
    <Card title="Something went wrong">
      <ErrorNotice error={error} onRetry={onRetry} />
    </Card>
  );
}
