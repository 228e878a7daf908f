// How much of its cap a key has spent, and how much running requests hold.
import { Box, Progress, Text } from '@mantine/core';
import { Money } from '../../parts/money.tsx';
import { usdText } from '../../parts/money-text.ts';
import { shareText } from '../../parts/number-text.ts';
import { TimeAgo } from '../../parts/time-ago.tsx';
import type { Key } from './key-values.ts';

type Props = {
  /** Label for screen readers: `Spent today`. */
  readonly label: string;
  readonly spend: Key['today'];
  /** Null when there is no cap. */
  readonly capMicros: number | null;
  /** Also shows the held amount and the time of the reset. */
  readonly detailed?: boolean;
};

export function CapBar({ label, spend, capMicros, detailed = false }: Props) {
  const { spent_micros: spent, held_micros: held, resets_at: resetsAt } = spend;
  return (
    <Box miw={detailed ? 0 : 130}>
      <Text component="div" size="sm">
        <Money short micros={spent} />{' '}
        <Text span inherit c="dimmed">
          {capMicros === null ? (detailed ? 'no cap' : '') : `of ${usdText(capMicros)}`}
        </Text>
      </Text>
      {capMicros !== null && <Bar label={label} spent={spent} held={held} capMicros={capMicros} />}
      {(detailed || isNearlyUsed(spent + held, capMicros)) && (
        <Text component="div" size="xs" c="dimmed" mt={4}>
          {detailed && held > 0 && (
            <>
              <Money micros={held} /> held by running requests ·{' '}
            </>
          )}
          resets <TimeAgo at={resetsAt} />
        </Text>
      )}
    </Box>
  );
}

function Bar({
  label,
  spent,
  held,
  capMicros,
}: {
  label: string;
  spent: number;
  held: number;
  capMicros: number;
}) {
  const shareOf = (micros: number) => (capMicros === 0 ? 1 : Math.min(1, micros / capMicros));
  const [spentShare, usedShare] = [shareOf(spent), shareOf(spent + held)];
  return (
    <Progress.Root size={6} mt={6} aria-hidden={false}>
      <Progress.Section
        value={spentShare * 100}
        color={usedShare >= 1 ? 'red' : usedShare >= 0.8 ? 'orange' : 'accent'}
        aria-label={`${label}: ${shareText(usedShare)} of the cap`}
      />
      {usedShare > spentShare && (
        <Progress.Section value={(usedShare - spentShare) * 100} color="gray.5" aria-label="Held" />
      )}
    </Progress.Root>
  );
}

function isNearlyUsed(usedMicros: number, capMicros: number | null): boolean {
  return capMicros !== null && usedMicros >= capMicros * 0.8;
}
