// Price multipliers of single models.
import { ActionIcon, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconTrash } from '@tabler/icons-react';
import type { Output } from '../../../api/client.ts';
import { useChange } from '../../../api/use-api.ts';
import { DataTable, type Column } from '../../../parts/data-table.tsx';
import { ErrorNotice } from '../../../parts/error-notice.tsx';
import { showError } from '../../../parts/notify.ts';
import { Panel } from '../../../parts/panel.tsx';
import { useFormSubmit } from '../../../parts/use-form-submit.ts';
import { multiplierText, ppmFromText } from '../../../parts/multiplier-text.ts';

type Account = Output<'GET /operator/accounts/:account'>;

type Price = Account['model_prices'][number];

export function ModelPrices({ account }: { readonly account: Account }) {
  const change = useChange('PATCH /operator/accounts/:account/prices', {
    invalidates: ['GET /operator/accounts/:account', 'GET /operator/audit-log'],
  });
  const form = useForm({
    initialValues: { model: '', multiplier: '' },
    validate: {
      model: (text) => (text.trim() === '' ? 'Enter a model ID or alias.' : null),
      multiplier: (text) => (ppmFromText(text) === null ? 'Enter a number, such as 0.9.' : null),
    },
  });
  const set = (model: string, ppm: number | null) =>
    change.mutateAsync({
      params: { account: account.id },
      body: { model_prices: [{ model, multiplier_ppm: ppm }] },
    });
  const { onSubmit, error } = useFormSubmit(
    form,
    async ({ model, multiplier }) => {
      await set(model.trim(), ppmFromText(multiplier));
      form.reset();
    },
    { 'model_prices[0].model': 'model', 'model_prices[0].multiplier_ppm': 'multiplier' },
  );
  const columns: readonly Column<Price>[] = [
    { title: 'Model', value: (price) => price.model, phone: 'title' },
    {
      title: 'Price multiplier',
      value: (price) => price.multiplier_ppm,
      align: 'right',
      render: (price) => multiplierText(price.multiplier_ppm),
    },
    {
      title: '',
      width: 60,
      render: (price) => (
        <ActionIcon
          color="red"
          aria-label={`Remove the price multiplier of ${price.model}`}
          onClick={() => void set(price.model, null).catch(showError)}
        >
          <IconTrash size={16} aria-hidden />
        </ActionIcon>
      ),
    },
  ];
  return (
    <Panel
      title="Prices of single models"
      description="These multipliers replace the account’s price multiplier."
      flush
    >
      {account.model_prices.length > 0 && (
        <DataTable
          label="Prices of single models"
          rows={account.model_prices}
          columns={columns}
          rowKey={(price) => price.model}
          empty={null}
        />
      )}
      <form onSubmit={onSubmit} noValidate>
        <Stack p="lg" gap="sm">
          {account.model_prices.length === 0 && (
            <Text c="dimmed" size="sm">
              None. The multiplier of all models is {multiplierText(account.price_multiplier_ppm)}.
            </Text>
          )}
          <Group align="flex-start" gap="sm">
            <TextInput
              aria-label="Model"
              placeholder="Model ID, or web-search"
              style={{ flex: '1 1 220px' }}
              maw={360}
              {...form.getInputProps('model')}
            />
            <TextInput
              aria-label="Price multiplier"
              placeholder="0.9"
              leftSection="×"
              inputMode="decimal"
              w={130}
              {...form.getInputProps('multiplier')}
            />
            <Button type="submit" variant="default" loading={change.isPending}>
              Set multiplier
            </Button>
          </Group>
          {error && <ErrorNotice error={error} />}
        </Stack>
      </form>
    </Panel>
  );
}
