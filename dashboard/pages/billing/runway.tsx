// How long the balance lasts at the recent pace.
import { Text, Tooltip } from '@mantine/core';
import type { Output } from '../../api/client.ts';
import { Money } from '../../parts/money.tsx';
import { usdText } from '../../parts/money-text.ts';
import { countText } from '../../parts/number-text.ts';
import { Stat } from '../../parts/stat.tsx';

type Overview = Output<'GET /accounts/:account/billing'>;

export function RunwayStat({ overview }: { readonly overview: Overview | undefined }) {
  if (!overview) return <Stat label="Runway" value={undefined} />;
  const { runway, available_micros: available } = overview;
  if (!runway) {
    return (
      <Stat
        label="Runway"
        value={
          <Text span inherit c="dimmed">
            –
          </Text>
        }
        hint="Nothing was spent in the last 7 complete UTC days."
      />
    );
  }
  const { days_left: left, daily_micros: daily, days } = runway;
  const assumption =
    `The available balance of ${usdText(available)} divided by the average spend of ` +
    `${days === 1 ? 'the last complete UTC day' : `the last ${days} complete UTC days`}. Today is not counted, because it is not over.`;
  return (
    <Stat
      label="Runway"
      value={
        <Tooltip label={assumption} multiline maw={320}>
          <span tabIndex={0}>{daysText(left, available)}</span>
        </Tooltip>
      }
      hint={
        <>
          at <Money short micros={daily} /> a day
        </>
      }
    />
  );
}

function daysText(left: number, available: number): string {
  if (available <= 0) return 'Used up';
  if (left === 0) return 'Less than a day';
  return left === 1 ? 'About 1 day' : `About ${countText(left)} days`;
}
