// Downloads the statement of a range of UTC days as CSV.
import { Button, Group, Popover, Stack, Text, TextInput } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useState } from 'react';
import type { Mode } from '../../api/account.ts';
import { apiPath, queryText } from '../../api/client.ts';

type Props = { readonly account: string; readonly mode: Mode };

export function StatementExport({ account, mode }: Props) {
  const [days, setDays] = useState({ from: '', to: '' });
  const isReversed = days.from !== '' && days.to !== '' && days.to < days.from;
  const address = `${apiPath}/accounts/${account}/statement.csv${queryText({ mode, ...days })}`;
  return (
    <Popover position="bottom-end" trapFocus>
      <Popover.Target>
        <Button variant="default" size="xs" leftSection={<IconDownload size={14} aria-hidden />}>
          Export
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Export the statement">
        <Stack gap="sm">
          <Group gap="sm" grow>
            <DayInput
              label="From"
              value={days.from}
              onChange={(from) => setDays({ ...days, from })}
            />
            <DayInput label="To" value={days.to} onChange={(to) => setDays({ ...days, to })} />
          </Group>
          <Text size="sm" c={isReversed ? 'red' : 'dimmed'}>
            {isReversed
              ? 'The last day is before the first.'
              : 'UTC days. Without them, everything until today.'}
          </Text>
          <Button
            component="a"
            href={isReversed ? undefined : address}
            download
            data-disabled={isReversed || undefined}
            leftSection={<IconDownload size={16} aria-hidden />}
          >
            Download CSV
          </Button>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

type DayInputProps = {
  readonly label: string;
  readonly value: string;
  readonly onChange: (day: string) => void;
};

function DayInput({ label, value, onChange }: DayInputProps) {
  return (
    <TextInput
      type="date"
      label={label}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
