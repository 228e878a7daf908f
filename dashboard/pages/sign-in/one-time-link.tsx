// Pages that a one-time link leads to ask what it is for before they show anything.
import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { ApiError } from '../../api/api-error.ts';
import { api, type Output } from '../../api/client.ts';
import { useUrlState } from '../../app/url-state.ts';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { Card } from './card.tsx';

type Props = {
  readonly kind: Output<'POST /auth/link'>['kind'];
  /** How to get another. */
  readonly remedy: ReactNode;
  readonly children: (token: string, link: Output<'POST /auth/link'>) => ReactNode;
};

export function OneTimeLink({ kind, remedy, children }: Props) {
  const [token] = useUrlState((search) => search.token ?? '');
  const link = useTokenQuery('link', token, () => api('POST /auth/link', { body: { token } }));
  if (link.isPending && token !== '') return <LoadingCard />;
  if (link.data?.kind === kind) return children(token, link.data);
  if (link.error && link.error.status !== 404) return <FailedCard error={link.error} onRetry={() => void link.refetch()} />;
  return <Card title="This link has ended" text="It was used, has expired, or is not whole." footer={remedy} />;
}

/** Asked once: a link that is used while its page is open is no news to the page that used it. */
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
    <Card title="One moment">
      <Skeleton h={36} />
      <Skeleton h={36} />
    </Card>
  );
}

export function FailedCard({ error, onRetry }: { readonly error: ApiError; readonly onRetry: () => void }) {
  return (
    <Card title="That did not work">
      <ErrorNotice error={error} onRetry={onRetry} />
    </Card>
  );
}
