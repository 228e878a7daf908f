// What a changed price would have done to the last week's requests.
import { Button, Group, Stack, Text } from '@mantine/core';
import { IconHistory } from '@tabler/icons-react';
import { useState } from 'react';
import type { Output } from '../../../api/client.ts';
import { useChange } from '../../../api/use-api.ts';
import { DataTable, type Column } from '../../../parts/data-table.tsx';
import { countedText, countText } from '../../../parts/number-text.ts';
import type { FormParts } from './entry-form.tsx';

type Preview = Output<'POST /operator/settings/preview'>;

export function PricePreview({ changes, showError }: Pick<FormParts, 'changes' | 'showError'>) {
  const ask = useChange('POST /operator/settings/preview');
  const [preview, setPreview] = useState<Preview | null>(null);
  const run = async () => {
    showError(null);
    try {
      setPreview(await ask.mutateAsync({ body: { changes: changes() } }));
    } catch (thrown) {
      setPreview(null);
      showError(thrown);
    }
  };
  return (
    <Stack gap="sm">
      <Group>
        <Button
          variant="default"
          leftSection={<IconHistory size={16} aria-hidden />}
          loading={ask.isPending}
          onClick={() => void run()}
        >
          Preview on last week
        </Button>
      </Group>
      <div role="status">{preview && <Result preview={preview} />}</div>
    </Stack>
  );
}

function Result({ preview: { requests, left_out: leftOut, data } }: { readonly preview: Preview }) {
  const leftOutText = leftOut === 0 ? '' : ` ${countText(leftOut)} of them cannot be priced again.`;
  if (data.length === 0)
    return (
      <Text size="sm">
        Of {countedText(requests, 'request')} of the last week, none would have cost anything else.
        {leftOutText}
      </Text>
    );
  return (
    <Stack gap="xs">
      <Text size="sm">
        {countedText(requests, 'request')} of the last week, at these prices.{leftOutText}
      </Text>
      <DataTable
        label="Preview"
        rows={data}
        columns={columns}
        rowKey={({ model }) => model}
        empty={null}
        dense
      />
    </Stack>
  );
}

const columns: readonly Column<Preview['data'][number]>[] = [
  { title: 'Model', phone: 'title', render: ({ model }) => model },
  { title: 'Requests', align: 'right', render: ({ requests }) => countText(requests) },
  { title: 'Charged', kind: 'money', value: (row) => row.charged_micros },
  { title: 'Would be', kind: 'money', value: (row) => row.would_charge_micros },
  {
    title: 'Difference',
    kind: 'money',
    value: (row) => row.would_charge_micros - row.charged_micros,
  },
];
