import { Stack, type StackProps } from '@mantine/core';
import type { ReactNode } from 'react';

/** Placeholders of what still loads. Screen readers say "Loading". */
export function Loading(props: StackProps & { readonly children: ReactNode }) {
  return <Stack gap="sm" role="status" aria-busy aria-label="Loading" {...props} />;
}
