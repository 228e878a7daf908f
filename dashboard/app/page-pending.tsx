import { Skeleton } from '@mantine/core';
import { Loading } from '../parts/loading.tsx';

/** Shown while a page's code loads. */
export function PagePending() {
  return (
    <Loading gap="lg">
      <Skeleton h={30} w={180} />
      <Skeleton h={120} radius="lg" />
      <Skeleton h={260} radius="lg" />
    </Loading>
  );
}
