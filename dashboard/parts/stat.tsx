import { Skeleton, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Panel } from './panel.tsx';

type Props = {
  readonly label: string;
  /** Undefined while it is loading. */
  readonly value: ReactNode | undefined;
  /** A line of explanation below the figure. */
  readonly hint?: ReactNode;
};

/** One figure: `<Stat label="Balance" value={<Money micros={balance} />} hint="$2.00 held" />` */
export function Stat({ label, value, hint }: Props) {
  return (
    <Panel>
      <Text size="sm" c="dimmed" fw={500}>
        {label}
      </Text>
      <Text component="div" fz="1.5rem" lh={1.3} fw={600} mt={4}>
        {value === undefined ? <Skeleton h={26} my={4} w="60%" /> : value}
      </Text>
      {hint !== undefined && (
        <Text component="div" size="sm" c="dimmed" mt={2}>
          {value === undefined ? <Skeleton h={12} my={4} w="80%" /> : hint}
        </Text>
      )}
    </Panel>
  );
}
