import { Skeleton } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { ApiError } from '../api/api-error.ts';
import { ErrorNotice } from './error-notice.tsx';
import { Loading } from './loading.tsx';

type Props<Data> = {
  readonly query: UseQueryResult<Data, ApiError>;
  /** Placeholder while loading; defaults to a few lines. */
  readonly skeleton?: ReactNode;
  readonly children: (data: Data) => ReactNode;
};

/** `<QueryView query={useApi(…)}>{(data) => …}</QueryView>`: shows the data, a placeholder or the error. */
export function QueryView<Data>({ query, skeleton, children }: Props<Data>) {
  if (query.data !== undefined) return children(query.data);
  if (query.error) return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
  return <Loading>{skeleton ?? <LoadingLines />}</Loading>;
}

function LoadingLines() {
  return (
    <>
      <Skeleton h={14} w="70%" />
      <Skeleton h={14} w="90%" />
      <Skeleton h={14} w="50%" />
    </>
  );
}
