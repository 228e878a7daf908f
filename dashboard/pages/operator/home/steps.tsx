// The forms of the first steps: a provider, a key and a balance.
import { PasswordInput, Select, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import type { Output } from '../../../api/client.ts';
import { useApi, useChange } from '../../../api/use-api.ts';
import { newIdempotencyId } from '../../../parts/idempotency-id.ts';
import { AppLink } from '../../../parts/link.tsx';
import { microsFromText } from '../../../parts/money-text.ts';
import { showSuccess } from '../../../parts/notify.ts';
import { countedText } from '../../../parts/number-text.ts';
import { QueryView } from '../../../parts/query-view.tsx';
import { SubmitForm } from '../../../parts/submit-form.tsx';
import { useFormSubmit } from '../../../parts/use-form-submit.ts';

export type CreatedKey = Output<'POST /accounts/:account/keys'>;
type Saved = Output<'GET /operator/settings/saved'>;

const checkAmount = (text: string) =>
  (microsFromText(text) ?? 0) > 0 ? null : 'Enter an amount above zero, such as 10.';

export function ProviderStep() {
  return (
    <QueryView query={useApi('GET /operator/settings/saved', {})}>
      {(saved) => <ProviderForm saved={saved} />}
    </QueryView>
  );
}

function ProviderForm({ saved }: { readonly saved: Saved }) {
  const save = useChange('PATCH /operator/settings/saved', {
    invalidates: [
      'GET /operator/settings/saved',
      'GET /operator/attention',
      'GET /accounts/:account/models',
    ],
  });
  const known = (name: string) => saved.known_providers.find((each) => each.name === name);
  const form = useForm({
    initialValues: { name: 'openai', secret: '', address: '' },
    validate: {
      secret: (text, { name }) =>
        known(name)?.needs_key && text.trim() === '' ? 'Enter a key of the provider.' : null,
      address: (text, { name }) =>
        known(name)?.base_url === null && text.trim() === '' ? 'Enter its address.' : null,
    },
  });
  const sending = useFormSubmit(
    form,
    async ({ name, secret, address }) => {
      const value = {
        enabled: true,
        api_key: secret.trim() || 'none',
        ...(address.trim() && { base_url: address.trim() }),
      };
      const changes = [{ path: ['providers', name], value }];
      await save.mutateAsync({ body: { version: saved.version, changes } });
      showSuccess(`${name} is switched on.`);
    },
    { api_key: 'secret', base_url: 'address' },
  );
  const { needs_key: needsKey = true, base_url: usual = null } = known(form.values.name) ?? {};
  return (
    <SubmitForm
      sending={sending}
      submit="Switch on"
      beside={
        <AppLink to="/operator/providers" search={{ add: '1' }} size="sm">
          Another provider, or more settings
        </AppLink>
      }
      maw={480}
    >
      <Select
        label="Provider"
        data={saved.known_providers.map(({ name, models }) => ({
          value: name,
          label: models > 0 ? `${name} (${countedText(models, 'model')})` : name,
        }))}
        allowDeselect={false}
        searchable
        {...form.getInputProps('name')}
      />
      {needsKey && (
        <PasswordInput
          label="Key"
          description="It is stored encrypted."
          autoComplete="off"
          withAsterisk
          {...form.getInputProps('secret')}
        />
      )}
      <TextInput
        label="Address"
        description={usual === null ? undefined : 'Leave it empty for its usual one.'}
        placeholder={usual ?? 'https://'}
        withAsterisk={usual === null}
        {...form.getInputProps('address')}
      />
    </SubmitForm>
  );
}

export function LiveKeyStep({ onCreated }: { readonly onCreated: (key: CreatedKey) => void }) {
  const create = useChange('POST /accounts/:account/keys', {
    invalidates: ['GET /accounts/:account/keys', 'GET /operator/attention'],
    onSuccess: onCreated,
  });
  const form = useForm({
    initialValues: { name: 'First live key', cap: '10' },
    validate: { name: (text) => (text.trim() ? null : 'Give the key a name.'), cap: checkAmount },
  });
  const sending = useFormSubmit(
    form,
    ({ name, cap }) =>
      create.mutateAsync({
        body: { mode: 'live', name: name.trim(), monthly_cap_micros: microsFromText(cap)! },
      }),
    { name: 'name', monthly_cap_micros: 'cap' },
  );
  return (
    <SubmitForm sending={sending} submit="Create key" maw={480}>
      <TextInput label="Name" maxLength={200} {...form.getInputProps('name')} />
      <TextInput
        label="Most spend in a month"
        description="USD"
        leftSection="$"
        inputMode="decimal"
        {...form.getInputProps('cap')}
      />
    </SubmitForm>
  );
}

export function BalanceStep({ account }: { readonly account: string }) {
  const [requestId] = useState(newIdempotencyId);
  const credit = useChange('POST /operator/accounts/:account/adjustments', {
    invalidates: ['GET /operator/attention', 'GET /operator/money', 'GET /operator/accounts'],
  });
  const form = useForm({ initialValues: { amount: '10' }, validate: { amount: checkAmount } });
  const sending = useFormSubmit(
    form,
    ({ amount }) =>
      credit.mutateAsync({
        params: { account },
        body: {
          request_id: requestId,
          kind: 'credit',
          mode: 'live',
          amount_micros: microsFromText(amount)!,
          note: 'First balance',
        },
      }),
    { amount_micros: 'amount' },
  );
  return (
    <SubmitForm sending={sending} submit="Add credit" maw={480}>
      <TextInput
        label="Amount"
        description="USD that your own account may spend. No card is charged."
        leftSection="$"
        inputMode="decimal"
        {...form.getInputProps('amount')}
      />
    </SubmitForm>
  );
}
