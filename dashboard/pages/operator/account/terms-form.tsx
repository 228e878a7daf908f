// The account's name, price multiplier and limits.
import { SimpleGrid, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import type { Output } from '../../../api/client.ts';
import { useChange } from '../../../api/use-api.ts';
import { changedFields } from '../../../parts/changed-fields.ts';
import { showSuccess } from '../../../parts/notify.ts';
import { Panel } from '../../../parts/panel.tsx';
import { AddressesField, LimitFields } from '../../../parts/limit-fields.tsx';
import { SubmitForm } from '../../../parts/submit-form.tsx';
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
  const [before, setBefore] = useState(valuesOf(account));
  const form = useForm<Values>({
    initialValues: before,
    validate: {
      name: (text) => (text.trim() === '' ? 'Give the account a name.' : null),
      multiplier: (text) =>
        ppmFromText(text) === null
          ? 'Enter a number from 0 to 1000 with at most six decimals, such as 0.9.'
          : null,
    },
  });
  const sending = useFormSubmit(
    form,
    async (values) => {
      const after = await update.mutateAsync({
        params: { account: account.id },
        body: changedFields(bodyOf(before), bodyOf(values)),
      });
      setBefore(valuesOf(after));
      form.setValues(valuesOf(after));
      form.resetDirty(valuesOf(after));
      showSuccess('Account saved. Changes apply within seconds.');
    },
    fieldNames,
  );
  return (
    <Panel
      title="Prices and limits"
      description="Limits apply to all keys of a mode together. Empty fields use the configuration’s defaults."
    >
      <SubmitForm sending={sending} submit="Save changes" button={{ disabled: !form.isDirty() }}>
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <TextInput label="Name" maxLength={200} {...form.getInputProps('name')} />
          <TextInput
            label="Price multiplier"
            leftSection="×"
            inputMode="decimal"
            {...form.getInputProps('multiplier')}
          />
        </SimpleGrid>
        <LimitFields
          requests={{ placeholder: 'Default', input: form.getInputProps('requests') }}
          tokens={{ placeholder: 'Default', input: form.getInputProps('tokens') }}
          concurrent={{ placeholder: 'Default', input: form.getInputProps('concurrent') }}
        />
        <AddressesField {...form.getInputProps('addresses')} />
      </SubmitForm>
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
