// When a key ends: never, after one of the usual spans, or at any moment.
import { Group, Select, TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { dateTimeText } from '../../parts/time-text.ts';
import { localTimeText } from './key-values.ts';

type Props = {
  /** As a `datetime-local` field has it; empty: never. */
  readonly value?: string;
  readonly onChange?: (value: string) => void;
  readonly error?: ReactNode;
  readonly disabled?: boolean;
};

const spans = [
  { value: 'never', label: 'Never', days: 0 },
  { value: '7', label: 'In 7 days', days: 7 },
  { value: '30', label: 'In 30 days', days: 30 },
  { value: '90', label: 'In 90 days', days: 90 },
  { value: '365', label: 'In a year', days: 365 },
  { value: 'at', label: 'At a time…', days: 30 },
] as const;

const dayMs = 86_400_000;

export function ExpiryField({ value = '', onChange, error, disabled }: Props) {
  const [span, setSpan] = useState<string>(value === '' ? 'never' : 'at');
  const choose = (chosen: string | null) => {
    const found = spans.find((candidate) => candidate.value === chosen) ?? spans[0];
    setSpan(found.value);
    if (found.value === 'never') onChange?.('');
    else if (found.value !== 'at' || value === '') onChange?.(localTimeText(new Date(Date.now() + found.days * dayMs)));
  };
  const at = value === '' ? null : new Date(value);
  const isMoment = at !== null && !Number.isNaN(at.getTime());
  return (
    <Group gap="md" align="flex-end" grow preventGrowOverflow={false}>
      <Select
        label="Expires"
        data={spans.map(({ value: id, label }) => ({ value: id, label }))}
        value={span}
        onChange={choose}
        allowDeselect={false}
        checkIconPosition="right"
        description={isMoment ? dateTimeText(at, { utc: true }) : 'It works until you disable or revoke it.'}
        error={span === 'at' ? null : error}
        disabled={disabled}
      />
      {span === 'at' && (
        <TextInput
          type="datetime-local"
          aria-label="Expires at, in your time zone"
          value={value}
          onChange={(event) => onChange?.(event.currentTarget.value)}
          error={error}
          disabled={disabled}
        />
      )}
    </Group>
  );
}
