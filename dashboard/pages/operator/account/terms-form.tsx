// The account's name, price multiplier and limits.
import { Button, Group, NumberInput, SimpleGrid, Stack, TagsInput, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { Output } from '../../../api/client.ts';
import { useChange } from '../../../api/use-api.ts';
import { ErrorNotice } from '../../../parts/error-notice.tsx';
import { showSuccess } from '../../../parts/notify.ts';
import { Panel } from '../../../parts/panel.tsx';
import { useFormSubmit } from '../../../parts/use-form-submit.ts';
import { multiplierField, ppmFromText } from '../../../parts/multiplier-text.ts';

type Account = Output<'GET /operator/accounts/:account'>;

type Values = {
  readonly name: string;
  readonly multiplier: string;
  /** Empty uses the configuration's default. */
  readonly requests: number | string;
  readonly tokens: number | string;
  readonly concurrent: number | string;
  /** Empty allows all addresses. */
  readonly addresses: string[];
};

const fieldNames = {
  name: 'name',
  price_multiplier_ppm: 'multiplier',
  requests_per_minute: 'requests',
  tokens_per_minute: 'tokens',
  concurrent_requests: 'concurrent',
  allowed_addresses: 'addresses',
};

export function TermsForm({ account }: { readonly account: Account }) {
  const update = useChange('PATCH /operator/accounts/:account', {
    invalidates: [
      'GET /operator/accounts/:account',
      'GET /operator/accounts',
      'GET /operator/audit-log',
    ],
  });
  const form = useForm<Values>({
    initialValues: valuesOf(account),
    validate: {
      name: (text) => (text.trim() === '' ? 'Give the account a name.' : null),
      multiplier: (text) =>
        ppmFromText(text) === null
          ? 'Enter a number from 0 to 1000 with at most six decimals, such as 0.9.'
          : null,
    },
  });
  const { onSubmit, error, isSubmitting } = useFormSubmit(
    form,
    async (values) => {
      const after = await update.mutateAsync({
        params: { account: account.id },
        body: bodyOf(values),
      });
      form.setValues(valuesOf(after));
      form.resetDirty(valuesOf(after));
      showSuccess('Account saved. Changes apply within seconds.');
    },
    fieldNames,
  );
  const number = {
    min: 0,
    max: 9_999_999_999,
    allowDecimal: false,
    thousandSeparator: ' ',
    hideControls: true,
  } as const;
  return (
    <Panel
      title="Prices and limits"
      description="Limits apply to all keys of a mode together. Empty fields use the configuration’s defaults."
    >
      <form onSubmit={onSubmit} noValidate>
        <Stack>
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            <TextInput
              label="Name"
              maxLength={200}
              autoComplete="off"
              {...form.getInputProps('name')}
            />
            <TextInput
              label="Price multiplier"
              leftSection="×"
              inputMode="decimal"
              autoComplete="off"
              {...form.getInputProps('multiplier')}
            />
          </SimpleGrid>
          <SimpleGrid cols={{ base: 1, sm: 3 }}>
            <NumberInput
              label="Requests per minute"
              placeholder="Default"
              {...number}
              {...form.getInputProps('requests')}
            />
            <NumberInput
              label="Tokens per minute"
              placeholder="Default"
              {...number}
              {...form.getInputProps('tokens')}
            />
            <NumberInput
              label="Concurrent requests"
              placeholder="Default"
              {...number}
              {...form.getInputProps('concurrent')}
            />
          </SimpleGrid>
          <TagsInput
            label="Allowed IP addresses"
            description="IP addresses or CIDR ranges. Press Enter after each. Leave empty to allow all."
            placeholder="203.0.113.7, 10.0.0.0/8"
            splitChars={[',', ' ']}
            maxTags={100}
            {...form.getInputProps('addresses')}
          />
          {error && <ErrorNotice error={error} />}
          <Group justify="flex-end">
            <Button type="submit" loading={isSubmitting} disabled={!form.isDirty()}>
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
    multiplier: multiplierField(account.price_multiplier_ppm),
    requests: account.requests_per_minute ?? '',
    tokens: account.tokens_per_minute ?? '',
    concurrent: account.concurrent_requests ?? '',
    addresses: [...(account.allowed_addresses ?? [])],
  };
}

function bodyOf({ name, multiplier, requests, tokens, concurrent, addresses }: Values) {
  const count = (value: number | string) => (value === '' ? null : Number(value));
  return {
    name: name.trim(),
    price_multiplier_ppm: ppmFromText(multiplier)!,
    requests_per_minute: count(requests),
    tokens_per_minute: count(tokens),
    concurrent_requests: count(concurrent),
    allowed_addresses: addresses.length === 0 ? null : addresses,
  };
}
