// Chooses the days of a page: the last ones with one click, or any range.
import { Group, SegmentedControl } from '@mantine/core';
import { DatePickerInput } from '@mantine/dates';
import '@mantine/dates/styles.layer.css';
import { IconCalendar } from '@tabler/icons-react';
import { useState } from 'react';
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

function RangePicker({ range, preset, today, onPreset, onRange }: Props) {
  // The address gets a range only when both ends are chosen.
  const [start, setStart] = useState<string | null>(null);
  const change = ([from, to]: readonly [string | null, string | null]) => {
    setStart(from !== null && to === null ? from : null);
    if (from !== null && to !== null) onRange({ from, to });
  };
  return (
    <Group gap="xs">
      <SegmentedControl
        size="xs"
        aria-label="Days"
        value={String(preset)}
        onChange={(days) => onPreset(Number(days))}
        data={presetDays.map((days) => ({ value: String(days), label: labels[days] }))}
      />
      <DatePickerInput
        type="range"
        size="xs"
        leftSection={<IconCalendar size={16} aria-hidden />}
        valueFormat="D MMM YYYY"
        value={start === null ? [range.from, range.to] : [start, null]}
        onChange={change}
        allowSingleDateInRange
        maxDate={today}
        w={220}
      />
    </Group>
  );
}
