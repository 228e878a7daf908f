// The cost by day of the groups that cost most. One day is shown by hour.
import { Skeleton } from '@mantine/core';
import { IconChartBar } from '@tabler/icons-react';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ApiError } from '../../api/api-error.ts';
import { useMode, type Mode } from '../../api/account.ts';
import type { Output } from '../../api/client.ts';
import { useApi } from '../../api/use-api.ts';
import { EmptyState } from '../empty-state.tsx';
import { Money } from '../money.tsx';
import { usdText } from '../money-text.ts';
import { QueryView } from '../query-view.tsx';
import { daysBefore, isComparable, type DayRange } from '../utc-days.ts';
import { Chart } from './chart.tsx';
import { beforeSeries, colors, costSeries, dayPoints, hourPoints } from './series.ts';

type Analytics = Output<'GET /accounts/:account/analytics'>;
type Props = {
  readonly query: UseQueryResult<Analytics, ApiError>;
  /** The days that are asked for. */
  readonly range: DayRange;
  readonly height?: number;
};

const total = (micros: number) => <Money short micros={micros} />;

export function CostChart({ query, range, height = 260 }: Props) {
  const mode = useMode();
  const byDay = useApi('GET /accounts/:account/analytics/days', { query: { mode, ...range } }).data;
  const hours = useHours(mode, range);
  const hoursBefore = useHours(mode, daysBefore(range));
  return (
    <QueryView query={query} skeleton={<Skeleton h={height} />}>
      {(costs) => {
        const { days, began_on: beganOn } = costs;
        if (costs.series.length === 0) return <Nothing />;
        // While other days load, the costs are of those before.
        const isSame = days[0] === range.from && days.at(-1) === range.to;
        const shown =
          isSame && hours
            ? {
                label: 'Cost by hour',
                points: hourPoints(range.from),
                series: [{ label: 'Cost', color: colors[0], values: hours }],
                before: hoursBefore,
              }
            : {
                label: 'Cost by day',
                points: dayPoints(days),
                series: costSeries(costs),
                before: byDay?.before.map(({ cost_micros: micros }) => micros),
              };
        // One chart for days and hours keeps the keyboard's focus.
        return (
          <Chart
            {...shown}
            shape="bars"
            height={height}
            before={
              isSame && shown.before && isComparable(range, beganOn)
                ? beforeSeries('Cost before', shown.before)
                : null
            }
            format={usdText}
            total={total}
            days={days}
          />
        );
      }}
    </QueryView>
  );
}

function Nothing() {
  return (
    <EmptyState
      icon={IconChartBar}
      title="Nothing spent in these days"
      text="The cost of each day appears here."
    />
  );
}

/** Returns the costs of the 24 hours of a day; undefined: there are more days, or they load. */
function useHours(mode: Mode, { from, to }: DayRange): readonly number[] | undefined {
  const isDay = from === to;
  const { data } = useApi(
    'GET /accounts/:account/analytics/hours',
    { query: { mode, from, to } },
    { enabled: isDay },
  );
  // The hours of the week begin on Sunday.
  const first = new Date(`${from}T00:00:00Z`).getUTCDay() * 24;
  return isDay ? data?.cost_micros.slice(first, first + 24) : undefined;
}
