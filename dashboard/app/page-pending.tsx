import { Skeleton, Stack } from '@mantine/core';

/** Shown while a page's code loads. */
export function PagePending() {
  return (
    <Stack gap="lg" aria-busy aria-label="Loading">
      <Skeleton h={30} w={180} />
      <Skeleton h={120} radius="lg" />
      <Skeleton h={260} radius="lg" />
    </Stack>
  );
}
