// What the account is called, pays and may do.
import { Button, Group, NumberInput, SimpleGrid, Stack, TagsInput, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import type { ApiError } from '../../../api/api-error.ts';
import { useChange } from '../../../api/use-api.ts';
import { ErrorNotice } from '../../../parts/error-notice.tsx';
import { showFieldError } from '../../../parts/form-errors.ts';
import { showDone } from '../../../parts/notify.ts';
import { Panel } from '../../../parts/panel.tsx';
import { factorField, ppmFromText } from '../factor-text.ts';
import type { Account } from './page.tsx';

type Values = {
  readonly name: string;
  readonly factor: string;
  /** '': the configuration's. */
  readonly requests: number | string;
  readonly tokens: number | string;
  readonly concurrent: number | string;
  /** None: from anywhere. */
  readonly addresses: string[];
};

const fieldNames = {
  name: 'name',
  price_multiplier_ppm: 'factor',
  requests_per_minute: 'requests',
  tokens_per_minute: 'tokens',
  concurrent_requests: 'concurrent',
  allowed_addresses: 'addresses',
};

export function TermsForm({ account }: { readonly account: Account }) {
  const [error, setError] = useState<ApiError | null>(null);
  const update = useChange('PATCH /operator/accounts/:account', {
    invalidates: ['GET /operator/accounts/:account', 'GET /operator/accounts', 'GET /operator/audit-log'],
  });
  const form = useForm<Values>({
    initialValues: valuesOf(account),
    validate: {
      name: (text) => (text.trim() === '' ? 'Give the account a name.' : null),
      factor: (text) => (ppmFromText(text) === null ? 'A factor from 0 to 1000 with at most six decimals, such as 0.9.' : null),
    },
  });
  const submit = async (values: Values) => {
    setError(null);
    try {
      const after = await update.mutateAsync({ params: { account: account.id }, body: bodyOf(values) });
      form.setValues(valuesOf(after));
      form.resetDirty(valuesOf(after));
      showDone('The account is changed. Gateways follow within seconds.');
    } catch (thrown) {
      setError(showFieldError(form, thrown, fieldNames));
    }
  };
  const number = { min: 0, max: 9_999_999_999, allowDecimal: false, thousandSeparator: ' ', hideControls: true } as const;
  return (
    <Panel
      title="Prices and limits"
      description="Limits are of all its keys of one mode together. Empty: what the configuration says."
    >
      <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
        <Stack>
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            <TextInput label="Name" maxLength={200} autoComplete="off" {...form.getInputProps('name')} />
            <TextInput
              label="Pays, times the list prices"
              leftSection="×"
              inputMode="decimal"
              autoComplete="off"
              {...form.getInputProps('factor')}
            />
          </SimpleGrid>
          <SimpleGrid cols={{ base: 1, sm: 3 }}>
            <NumberInput label="Requests a minute" placeholder="Default" {...number} {...form.getInputProps('requests')} />
            <NumberInput label="Tokens a minute" placeholder="Default" {...number} {...form.getInputProps('tokens')} />
            <NumberInput label="Requests at once" placeholder="Default" {...number} {...form.getInputProps('concurrent')} />
          </SimpleGrid>
          <TagsInput
            label="Allowed addresses"
            description="Addresses and CIDR ranges. Empty: from anywhere."
            placeholder="203.0.113.7, 10.0.0.0/8"
            splitChars={[',', ' ']}
            maxTags={100}
            {...form.getInputProps('addresses')}
          />
          {error && <ErrorNotice error={error} />}
          <Group justify="flex-end">
            <Button type="submit" loading={update.isPending} disabled={!form.isDirty()}>
              Save changes
            </Button>
          </Group>
        </Stack>
      </form>
    </Panel>
  );
}

function valuesOf(account: Account): Values {
  return {
    name: account.name,
    factor: factorField(account.price_multiplier_ppm),
    requests: account.requests_per_minute ?? '',
    tokens: account.tokens_per_minute ?? '',
    concurrent: account.concurrent_requests ?? '',
    addresses: [...(account.allowed_addresses ?? [])],
  };
}

function bodyOf({ name, factor, requests, tokens, concurrent, addresses }: Values) {
  const count = (value: number | string) => (value === '' ? null : Number(value));
  return {
    name: name.trim(),
    price_multiplier_ppm: ppmFromText(factor)!,
    requests_per_minute: count(requests),
    tokens_per_minute: count(tokens),
    concurrent_requests: count(concurrent),
    allowed_addresses: addresses.length === 0 ? null : addresses,
  };
}
