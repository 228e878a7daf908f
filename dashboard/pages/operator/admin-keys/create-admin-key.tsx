import { Checkbox, Drawer, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import type { Body, Output } from '../../../api/client.ts';
import { useChange } from '../../../api/use-api.ts';
import { ExpiryField } from '../../../parts/expiry-field.tsx';
import { NewKeyDialog } from '../../../parts/new-key-dialog.tsx';
import { AddressesField } from '../../../parts/limit-fields.tsx';
import { SubmitForm } from '../../../parts/submit-form.tsx';
import { useFormSubmit } from '../../../parts/use-form-submit.ts';

type Scope = Body<'POST /operator/admin-keys'>['scopes'][number];
type Created = Output<'POST /operator/admin-keys'>;

const scopes: Readonly<Record<Scope, string>> = {
  'accounts:read': 'List and get accounts',
  'accounts:write': 'Create, change, freeze and purge accounts',
  'keys:read': 'List and get API keys',
  'keys:write': 'Create, change, stop and revoke API keys',
  'credits:write': 'Credit and debit accounts, forgive losses',
  'users:read': 'List users, members and invitations',
  'users:write': 'Invite, change roles, remove, and make password links for all users',
  'reports:read': 'Read statements, charges, sums and losses',
  'prices:read': 'Read prices',
  'prices:write': 'Change the multipliers of accounts',
  'audit:read': 'Read the audit log',
  'settings:read': 'Read the saved settings, without credentials',
  'settings:write': 'Change providers, models and prices, and send their traffic anywhere',
};

type Props = { readonly opened: boolean; readonly onClose: () => void };

/** Creates an admin key, then shows its secret once. */
export function CreateAdminKey({ opened, onClose }: Props) {
  const [created, setCreated] = useState<Created | null>(null);
  return (
    <>
      <Drawer
        opened={opened}
        onClose={onClose}
        title="Create an admin key"
        position="right"
        size="lg"
      >
        <CreateForm
          onClose={onClose}
          onCreated={(key) => {
            setCreated(key);
            onClose();
          }}
        />
      </Drawer>
      <NewKeyDialog
        created={created}
        power="do everything that its scopes allow, in all accounts"
        onClose={() => setCreated(null)}
      />
    </>
  );
}

type FormProps = {
  readonly onClose: () => void;
  readonly onCreated: (created: Created) => void;
};

type Values = {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly addresses: readonly string[];
  /** In the format of a `datetime-local` field. Empty means never. */
  readonly expires: string;
};

const emptyValues: Values = { name: '', scopes: [], addresses: [], expires: '' };

function CreateForm({ onClose, onCreated }: FormProps) {
  const create = useChange('POST /operator/admin-keys', {
    invalidates: ['GET /operator/admin-keys', 'GET /operator/audit-log'],
  });
  const form = useForm<Values>({
    initialValues: emptyValues,
    validate: {
      name: (text) => (text.trim() === '' ? 'Give the key a name.' : null),
      scopes: (chosen) => (chosen.length === 0 ? 'Choose at least one scope.' : null),
      expires: (text) =>
        text !== '' && Number.isNaN(Date.parse(text)) ? 'Enter a valid date and time.' : null,
    },
  });
  const sending = useFormSubmit(
    form,
    async (values) => {
      const body = {
        name: values.name.trim(),
        scopes: [...values.scopes] as Scope[],
        allowed_addresses: values.addresses.length === 0 ? null : [...values.addresses],
        expires_at: values.expires === '' ? null : new Date(values.expires).toISOString(),
      };
      onCreated(await create.mutateAsync({ body }));
    },
    { name: 'name', scopes: 'scopes', allowed_addresses: 'addresses', expires_at: 'expires' },
  );
  return (
    <SubmitForm sending={sending} submit="Create admin key" onClose={onClose} gap="lg">
      <TextInput
        label="Name"
        placeholder="Shop"
        description="The program that uses this key. The audit log shows it."
        maxLength={200}
        data-autofocus
        withAsterisk
        {...form.getInputProps('name')}
      />
      <Checkbox.Group
        label="Scopes"
        description="Choose only what the program needs."
        withAsterisk
        {...form.getInputProps('scopes')}
        value={[...form.values.scopes]}
      >
        <Stack gap="xs" mt="xs">
          {Object.entries(scopes).map(([scope, allows]) => (
            <Checkbox key={scope} value={scope} label={scope} description={allows} />
          ))}
        </Stack>
      </Checkbox.Group>
      <ExpiryField {...form.getInputProps('expires')} />
      <AddressesField {...form.getInputProps('addresses')} />
    </SubmitForm>
  );
}
