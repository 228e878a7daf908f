// The figures of the chosen days, each with its change and a link to its requests.
import { SimpleGrid } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Output } from '../../api/client.ts';
import { Trend } from '../../parts/charts/trend.tsx';
import { Money } from '../../parts/money.tsx';
import { shortUsdText } from '../../parts/money-text.ts';
import { countText, durationText, shareText, shortCountText } from '../../parts/number-text.ts';
import { RequestsLink } from '../../parts/requests-link.tsx';
import { Stat } from '../../parts/stat.tsx';
import type { Search } from '../../parts/url-state.ts';
import { dayText } from '../../parts/time-text.ts';
import { isComparable, type DayRange } from '../../parts/utc-days.ts';
import { sortWithin } from './groups.ts';

type Analytics = Output<'GET /accounts/:account/analytics'>;
type Sums = Analytics['now'];

type Props = {
  /** Undefined while loading. */
  readonly analytics: Analytics | undefined;
  readonly range: DayRange;
};

export function Figures({ analytics, range }: Props) {
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 4 }} spacing="md">
      {figures.map(({ label, filters, sort, ...figure }) => (
        <Stat
          key={label}
          label={label}
          value={
            analytics &&
            (figure.isKnown?.(analytics.now) === false ? (
              '–'
            ) : (
              <RequestsLink
                filters={{ ...range, ...filters, ...(sort && sortWithin(range, sort)) }}
              >
                {figure.value(analytics.now)}
              </RequestsLink>
            ))
          }
          hint={analytics && <Change {...{ figure, analytics, range }} />}
        />
      ))}
    </SimpleGrid>
  );
}

type Figure = {
  readonly label: string;
  readonly value: (sums: Sums) => ReactNode;
  /** What is compared; null: not known. */
  readonly amount: (sums: Sums) => number | null;
  readonly text: (amount: number) => string;
  /** By default neither. */
  readonly good?: 'higher' | 'lower';
  /** By default it is. */
  readonly isKnown?: (sums: Sums) => boolean;
  readonly filters?: Search;
  readonly sort?: string;
};

type ChangeProps = {
  readonly figure: Pick<Figure, 'amount' | 'text' | 'good'>;
  readonly analytics: Analytics;
  readonly range: DayRange;
};

function Change({ figure: { amount, text, good }, analytics, range }: ChangeProps) {
  const { now, before, began_on: beganOn } = analytics;
  const [current, earlier] = [amount(now), amount(before)];
  if (beganOn !== null && !isComparable(range, beganOn))
    return `First charge on ${dayText(beganOn)}`;
  if (earlier === null || earlier === 0) return 'None before';
  return (
    <>
      {current !== null && (
        <>
          <Trend now={current} before={earlier} good={good} /> from{' '}
        </>
      )}
      {text(earlier)} before
    </>
  );
}

const tokens = ({ input_tokens: input, output_tokens: output }: Sums) => input + output;

function latency(label: string, name: 'first_token' | 'duration', sort: string): Figure {
  return {
    label,
    isKnown: ({ [name]: measured }) => measured !== null,
    value: ({ [name]: measured }) =>
      measured ? `${durationText(measured.p50_ms)} / ${durationText(measured.p95_ms)}` : '–',
    amount: ({ [name]: measured }) => measured?.p95_ms ?? null,
    text: (ms) => `p95 ${durationText(ms)}`,
    good: 'lower',
    sort,
  };
}

const figures: readonly Figure[] = [
  {
    label: 'Cost',
    value: ({ cost_micros: cost }) => <Money short micros={cost} />,
    amount: ({ cost_micros: cost }) => cost,
    text: shortUsdText,
    sort: 'cost',
  },
  {
    label: 'Requests',
    value: ({ requests }) => countText(requests),
    amount: ({ requests }) => requests,
    text: countText,
  },
  {
    label: 'Tokens, in and out',
    value: (sums) => `${shortCountText(sums.input_tokens)} / ${shortCountText(sums.output_tokens)}`,
    amount: tokens,
    text: shortCountText,
  },
  {
    label: 'Error rate',
    value: ({ errors, requests }) => shareText(requests === 0 ? 0 : errors / requests),
    amount: ({ errors, requests }) => (requests === 0 ? null : errors / requests),
    text: shareText,
    good: 'lower',
    filters: { outcome: 'failed' },
  },
  {
    label: 'Errors',
    value: ({ errors }) => countText(errors),
    amount: ({ errors }) => errors,
    text: countText,
    good: 'lower',
    filters: { outcome: 'failed' },
  },
  {
    label: 'Saved by caching',
    value: ({ saved_micros: saved }) => <Money short micros={saved} />,
    amount: ({ saved_micros: saved }) => saved,
    text: shortUsdText,
    good: 'higher',
    filters: { outcome: 'cached' },
  },
  latency('First token, p50 / p95', 'first_token', 'first-token'),
  latency('Duration, p50 / p95', 'duration', 'duration'),
];
