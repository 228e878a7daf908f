// Expiry of a key: never, after a preset number of days, or at a chosen time.
import { Group, Select, TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { dateTimeText, localTimeText } from './time-text.ts';

type Props = {
  /** In the format of a `datetime-local` field. Empty means never. */
  readonly value?: string;
  readonly onChange?: (value: string) => void;
  readonly error?: ReactNode;
  readonly disabled?: boolean;
};

const presets = [
  { value: 'never', label: 'Never', days: 0 },
  { value: '7', label: 'In 7 days', days: 7 },
  { value: '30', label: 'In 30 days', days: 30 },
  { value: '90', label: 'In 90 days', days: 90 },
  { value: '365', label: 'In a year', days: 365 },
  { value: 'at', label: 'On a date…', days: 30 },
] as const;

const dayMs = 86_400_000;

export function ExpiryField({ value = '', onChange, error, disabled }: Props) {
  const [preset, setPreset] = useState<string>(value === '' ? 'never' : 'at');
  const choose = (chosen: string | null) => {
    const found = presets.find((candidate) => candidate.value === chosen) ?? presets[0];
    setPreset(found.value);
    if (found.value === 'never') onChange?.('');
    else if (found.value !== 'at' || value === '')
      onChange?.(localTimeText(new Date(Date.now() + found.days * dayMs)));
  };
  const at = value === '' ? null : new Date(value);
  const isValidTime = at !== null && !Number.isNaN(at.getTime());
  return (
    <Group gap="md" align="flex-end" grow preventGrowOverflow={false}>
      <Select
        label="Expires"
        data={presets.map(({ value: id, label }) => ({ value: id, label }))}
        value={preset}
        onChange={choose}
        allowDeselect={false}
        checkIconPosition="right"
        description={
          isValidTime
            ? `${dateTimeText(at, { utc: true })} UTC`
            : 'The key works until somebody stops it.'
        }
        error={preset === 'at' ? null : error}
        disabled={disabled}
      />
      {preset === 'at' && (
        <TextInput
          type="datetime-local"
          aria-label="Expiry time, in your time zone"
          value={value}
          onChange={(event) => onChange?.(event.currentTarget.value)}
          error={error}
          disabled={disabled}
        />
      )}
    </Group>
  );
}
