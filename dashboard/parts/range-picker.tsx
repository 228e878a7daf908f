// Chooses the days of a page: the last ones with one click, or any range.
import { Button, Group, SegmentedControl, Skeleton } from '@mantine/core';
import { IconZoomOut } from '@tabler/icons-react';
import { lazy, Suspense } from 'react';
import { loadAgain } from './load-again.ts';
import { useToday } from './time-ago.tsx';
import { useUrlState } from './url-state.ts';
import { lastDays, type Preset, presetDefault, readRange, type DayRange } from './utc-days.ts';

const usual = ['1', '7', '30', '90', '365'] as const;

/** `const { range, picker } = useRange();` The range is in the address. */
export function useRange(presets: readonly Preset[] = usual) {
  const nowMs = useToday();
  const [{ range, preset }, setState] = useUrlState((search) => readRange(search, nowMs, presets));
  const picker = (
    <RangePicker
      range={range}
      presets={presets}
      preset={preset}
      today={lastDays(1, nowMs).to}
      onPreset={(days) => setState({ ...noDays, days })}
      onRange={(days) => setState({ ...noDays, ...days })}
    />
  );
  return { range, picker };
}

const noDays = { days: undefined, from: undefined, to: undefined, out: undefined };

/** Changes the days of a page with `useRange` to those that a chart's reader chooses. */
export function useZoom() {
  const [{ days, from, to, out }, setState] = useUrlState((search) => search);
  const before = days ?? (from && to ? `${from} ${to}` : presetDefault);
  return (range: DayRange) => setState({ ...noDays, ...range, out: out ?? before }, { push: true });
}

/** Leads back to the days before the first zoom, as Back does. Nothing without a zoom. */
export function ZoomOut() {
  const [{ out }, setState] = useUrlState((search) => search);
  if (out === undefined) return null;
  const [first, last] = out.split(' ');
  return (
    <Button
      variant="default"
      size="compact-xs"
      leftSection={<IconZoomOut size={14} aria-hidden />}
      onClick={() =>
        setState({ ...noDays, ...(last ? { from: first, to: last } : { days: first }) })
      }
    >
      Zoom out
    </Button>
  );
}

type Props = {
  readonly range: DayRange;
  readonly presets: readonly Preset[];
  readonly preset: Preset | null;
  readonly today: string;
  readonly onPreset: (days: string) => void;
  readonly onRange: (range: DayRange) => void;
};

const labels: Readonly<Record<Preset, string>> = {
  1: 'Today',
  7: '7 days',
  30: '30 days',
  90: '90 days',
  365: '1 year',
  month: 'This month',
};

const AnyDaysField = lazy(
  loadAgain(async () => ({ default: (await import('./any-days-field.tsx')).AnyDaysField })),
);

function RangePicker({ presets, preset, onPreset, ...field }: Props) {
  return (
    <Group gap="xs">
      <SegmentedControl
        size="xs"
        aria-label="Days"
        value={preset ?? ''}
        onChange={onPreset}
        data={presets.map((days) => ({ value: days, label: labels[days] }))}
      />
      <Suspense fallback={<Skeleton h={30} w={{ base: '100%', xs: 250 }} />}>
        <AnyDaysField {...field} />
      </Suspense>
      <ZoomOut />
    </Group>
  );
}
