// Chooses the days of a page: the last ones with one click, or any range.
import { Group, SegmentedControl, Skeleton } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { loadAgain } from './load-again.ts';
import { useUrlState } from './url-state.ts';
import { lastDays, presetDays, readRange, type DayRange } from './utc-days.ts';

/** `const { range, picker } = useRange();` The range is in the address. */
export function useRange() {
  const [nowMs] = useState(() => Date.now());
  const [{ range, preset }, setState] = useUrlState((search) => readRange(search, nowMs));
  const picker = (
    <RangePicker
      range={range}
      preset={preset}
      today={lastDays(1, nowMs).to}
      onPreset={(days) => setState({ days: String(days), from: undefined, to: undefined })}
      onRange={({ from, to }) => setState({ days: undefined, from, to })}
    />
  );
  return { range, preset, picker };
}

type Props = {
  readonly range: DayRange;
  readonly preset: number | null;
  readonly today: string;
  readonly onPreset: (days: number) => void;
  readonly onRange: (range: DayRange) => void;
};

const labels: Readonly<Record<(typeof presetDays)[number], string>> = {
  1: 'Today',
  7: '7 days',
  30: '30 days',
  90: '90 days',
  365: '1 year',
};

const AnyDaysField = lazy(
  loadAgain(async () => ({ default: (await import('./any-days-field.tsx')).AnyDaysField })),
);

function RangePicker({ preset, onPreset, ...field }: Props) {
  return (
    <Group gap="xs">
      <SegmentedControl
        size="xs"
        aria-label="Days"
        value={String(preset)}
        onChange={(days) => onPreset(Number(days))}
        data={presetDays.map((days) => ({ value: String(days), label: labels[days] }))}
      />
      <Suspense fallback={<Skeleton h={30} w={220} />}>
        <AnyDaysField {...field} />
      </Suspense>
    </Group>
  );
}
