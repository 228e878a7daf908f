// A field for any range of UTC days. Loads lazily: the calendar is larger than most pages.
import { DatePickerInput } from '@mantine/dates';
import '@mantine/dates/styles.layer.css';
import { IconCalendar } from '@tabler/icons-react';
import { useState } from 'react';
import { daysText } from './time-text.ts';
import type { DayRange } from './utc-days.ts';

type Props = {
  readonly range: DayRange;
  readonly today: string;
  readonly onRange: (range: DayRange) => void;
};

export function AnyDaysField({ range, today, onRange }: Props) {
  // The address gets a range only when both ends are chosen.
  const [start, setStart] = useState<string | null>(null);
  const change = ([from, to]: readonly [string | null, string | null]) => {
    setStart(from !== null && to === null ? from : null);
    if (from !== null && to !== null) onRange({ from, to });
  };
  return (
    <DatePickerInput
      type="range"
      size="xs"
      leftSection={<IconCalendar size={16} aria-hidden />}
      valueFormatter={daysText}
      value={start === null ? [range.from, range.to] : [start, null]}
      onChange={change}
      allowSingleDateInRange
      maxDate={today}
      w={{ base: '100%', xs: 250 }}
    />
  );
}
