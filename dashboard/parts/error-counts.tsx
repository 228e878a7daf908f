// Errors grouped by code, each with its number and a link to its requests.
import { Group, Stack, Text } from '@mantine/core';
import { CutText } from './cut-text.tsx';
import { countText } from './number-text.ts';
import { RequestsLink } from './requests-link.tsx';
import type { DayRange } from './utc-days.ts';

type Props = {
  readonly errors: readonly { readonly code: string; readonly requests: number }[];
  readonly range: DayRange;
};

export function ErrorCounts({ errors, range }: Props) {
  if (errors.length === 0) return <Text c="dimmed">No errors in these days.</Text>;
  return (
    <Stack
      component="ul"
      maw="46rem"
      gap={8}
      m={0}
      p={0}
      style={{ listStyle: 'none' }}
      aria-label="Errors"
    >
      {errors.map(({ code, requests }) => (
        <Group key={code} component="li" justify="space-between" gap="sm" wrap="nowrap">
          <CutText text={code}>
            <RequestsLink filters={{ ...range, code }}>{code}</RequestsLink>
          </CutText>
          <Text c="dimmed">{countText(requests)}</Text>
        </Group>
      ))}
    </Stack>
  );
}
