// A cap as a budget: what the key has spent of it, what running requests hold, and the forecast for
// the end of the window.
import { Box, Progress, Text, Tooltip } from '@mantine/core';
import { Money } from '../../parts/money.tsx';
import { shortUsdText, usdText } from '../../parts/money-text.ts';
import { shareText } from '../../parts/number-text.ts';
import { TimeAgo } from '../../parts/time-ago.tsx';
import type { Key } from './key-values.ts';

type Props = {
  /** Label for screen readers: `Spent today`. */
  readonly label: string;
  readonly spend: Key['today'];
  /** Null when there is no cap. */
  readonly capMicros: number | null;
  /** Also shows the held amount, the time of the reset and how the forecast is made. */
  readonly detailed?: boolean;
};

const howForecast =
  'The average spend since the start of the UTC day or month (or since the key was created), kept up until the reset.';

export function CapBar({ label, spend, capMicros, detailed = false }: Props) {
  const { spent_micros: spent, held_micros: held, resets_at: resetsAt } = spend;
  const forecast = spend.forecast_micros;
  return (
    <Box miw={detailed ? 0 : 130}>
      <Text component="div" size="sm">
        <Money short micros={spent} />{' '}
        <Text span inherit c="dimmed">
          {capMicros === null ? (detailed ? 'no cap' : '') : `of ${usdText(capMicros)}`}
        </Text>
      </Text>
      {capMicros !== null && (
        <Bar label={label} capMicros={capMicros} {...{ spent, held, forecast }} />
      )}
      {forecast !== null && (capMicros !== null || detailed) && (
        <Tooltip label={howForecast} multiline maw={320}>
          <Text
            component="div"
            size="xs"
            mt={4}
            c={capMicros !== null && forecast > capMicros ? 'red' : 'dimmed'}
          >
            forecast {shortUsdText(forecast)}
            {capMicros !== null && forecast > capMicros && ', above the cap'}
          </Text>
        </Tooltip>
      )}
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
      {detailed && forecast !== null && (
        <Text size="xs" c="dimmed" mt={4}>
          {howForecast}
        </Text>
      )}
    </Box>
  );
}

function Bar({
  label,
  spent,
  held,
  forecast,
  capMicros,
}: {
  label: string;
  spent: number;
  held: number;
  forecast: number | null;
  capMicros: number;
}) {
  const shareOf = (micros: number) => (capMicros === 0 ? 1 : Math.min(1, micros / capMicros));
  const [spentShare, usedShare] = [shareOf(spent), shareOf(spent + held)];
  const forecastShare = Math.max(usedShare, shareOf(forecast ?? 0));
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
      {forecastShare > usedShare && (
        <Progress.Section
          value={(forecastShare - usedShare) * 100}
          color="accent"
          opacity={0.3}
          aria-label="Forecast"
        />
      )}
    </Progress.Root>
  );
}

function isNearlyUsed(usedMicros: number, capMicros: number | null): boolean {
  return capMicros !== null && usedMicros >= capMicros * 0.8;
}
