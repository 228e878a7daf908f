// Models that the account pays another price for than the rest.
import { ActionIcon, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import type { ApiError } from '../../../api/api-error.ts';
import { useChange } from '../../../api/use-api.ts';
import { DataTable, type Column } from '../../../parts/data-table.tsx';
import { ErrorNotice } from '../../../parts/error-notice.tsx';
import { showFieldError } from '../../../parts/form-errors.ts';
import { showError } from '../../../parts/notify.ts';
import { Panel } from '../../../parts/panel.tsx';
import { factorText, ppmFromText } from '../factor-text.ts';
import type { Account } from './page.tsx';

type Price = Account['model_prices'][number];

export function ModelPrices({ account }: { readonly account: Account }) {
  const [error, setError] = useState<ApiError | null>(null);
  const change = useChange('PATCH /operator/accounts/:account/model-prices', {
    invalidates: ['GET /operator/accounts/:account', 'GET /operator/audit-log'],
  });
  const form = useForm({
    initialValues: { model: '', factor: '' },
    validate: {
      model: (text) => (text.trim() === '' ? 'The id or an alias of a model.' : null),
      factor: (text) => (ppmFromText(text) === null ? 'A factor, such as 0.9.' : null),
    },
  });
  const set = (model: string, ppm: number | null) =>
    change.mutateAsync({ params: { account: account.id }, body: { model, multiplier_ppm: ppm } });
  const add = async ({ model, factor }: { readonly model: string; readonly factor: string }) => {
    setError(null);
    try {
      await set(model.trim(), ppmFromText(factor));
      form.reset();
    } catch (thrown) {
      setError(showFieldError(form, thrown, { model: 'model', multiplier_ppm: 'factor' }));
    }
  };
  const columns: readonly Column<Price>[] = [
    { title: 'Model', phone: 'title', render: (price) => price.model },
    { title: 'Pays', align: 'right', render: (price) => factorText(price.multiplier_ppm) },
    {
      title: '',
      align: 'right',
      width: 60,
      render: (price) => (
        <ActionIcon
          color="red"
          aria-label={`Remove the price of ${price.model}`}
          onClick={() => void set(price.model, null).catch(showError)}
        >
          <IconTrash size={16} aria-hidden />
        </ActionIcon>
      ),
    },
  ];
  return (
    <Panel title="Prices of single models" description="In place of what the account pays for all others." flush>
      {account.model_prices.length > 0 && (
        <DataTable
          label="Prices of single models"
          rows={account.model_prices}
          columns={columns}
          rowKey={(price) => price.model}
          empty={null}
        />
      )}
      <form onSubmit={form.onSubmit((values) => void add(values))} noValidate>
        <Stack p="lg" gap="sm">
          {account.model_prices.length === 0 && (
            <Text c="dimmed" size="sm">
              None: all models at {factorText(account.price_multiplier_ppm)}.
            </Text>
          )}
          <Group align="flex-start" gap="sm">
            <TextInput
              aria-label="Model"
              placeholder="Model id, or web-search"
              autoComplete="off"
              style={{ flex: '1 1 220px' }}
              maw={360}
              {...form.getInputProps('model')}
            />
            <TextInput
              aria-label="Factor"
              placeholder="0.9"
              leftSection="×"
              inputMode="decimal"
              autoComplete="off"
              w={130}
              {...form.getInputProps('factor')}
            />
            <Button type="submit" variant="default" loading={change.isPending}>
              Set price
            </Button>
          </Group>
          {error && <ErrorNotice error={error} />}
        </Stack>
      </form>
    </Panel>
  );
}
