import { Checkbox, Drawer, SegmentedControl, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import type { Body } from '../api/client.ts';
import { useChange } from '../api/use-api.ts';
import {
  type AlertEndpoints,
  type AlertKind,
  alertKinds,
  alertReads,
  type AlertsOf,
} from './alerts-of.ts';
import { NewKeyDialog } from './new-key-dialog.tsx';
import { showSuccess } from './notify.ts';
import { SubmitForm } from './submit-form.tsx';
import { useFormSubmit } from './use-form-submit.ts';

type Props = {
  readonly of: AlertsOf;
  readonly alerts: AlertEndpoints;
  readonly opened: boolean;
  readonly onClose: () => void;
};
type Created = { readonly key: { readonly name: string }; readonly secret: string };

/** Adds an endpoint, then shows a webhook's secret once. */
export function NewAlertEndpoint({ opened, onClose, ...props }: Props) {
  const [created, setCreated] = useState<Created | null>(null);
  return (
    <>
      <Drawer opened={opened} onClose={onClose} title="Add an endpoint" position="right" size="lg">
        <EndpointForm
          {...props}
          onClose={onClose}
          onCreated={(made) => {
            setCreated(made);
            if (!made) showSuccess('Endpoint added. Send it a test.');
            onClose();
          }}
        />
      </Drawer>
      <NewKeyDialog
        created={created}
        what="Webhook"
        power="send events in the name of this service"
        onClose={() => setCreated(null)}
      />
    </>
  );
}

type Type = NonNullable<Body<'POST /accounts/:account/alert-endpoints'>['types']>[number];

type Values = {
  readonly kind: AlertKind;
  readonly address: string;
  /** None: all. */
  readonly types: readonly string[];
};

const hints: Readonly<Record<AlertKind, string>> = {
  webhook: 'Signed by Standard Webhooks. The secret is shown once.',
  email: 'A user of this account, or: owners.',
  slack: 'The address of an incoming webhook, also of Mattermost and others that take its JSON.',
};

const samples: Readonly<Record<AlertKind, string>> = {
  webhook: 'https://example.com/hooks/tollgate',
  email: 'owners',
  slack: 'https://hooks.slack.com/services/…',
};

type FormProps = Pick<Props, 'of' | 'alerts' | 'onClose'> & {
  readonly onCreated: (created: Created | null) => void;
};

function EndpointForm({ of, alerts, onClose, onCreated }: FormProps) {
  const create = useChange(`POST ${of.below}/accounts/:account/alert-endpoints`, {
    invalidates: alertReads(of),
  });
  const form = useForm<Values>({
    initialValues: { kind: 'webhook', address: '', types: [] },
    validate: { address: (text) => (text.trim() === '' ? 'Enter an address.' : null) },
  });
  const sending = useFormSubmit(
    form,
    async ({ kind, address, types }) => {
      const chosen = types.length === 0 ? null : ([...types] as Type[]);
      const body = { kind, address: address.trim(), types: chosen };
      const { endpoint, secret } = await create.mutateAsync({ params: of.params, body });
      onCreated(secret === null ? null : { key: { name: endpoint.address }, secret });
    },
    { kind: 'kind', address: 'address', types: 'types' },
  );
  const { kind } = form.values;
  const kinds = Object.entries(alertKinds)
    .filter(([value]) => alerts.can_mail || value !== 'email')
    .map(([value, label]) => ({ value, label }));
  return (
    <SubmitForm sending={sending} submit="Add endpoint" onClose={onClose} gap="lg">
      <SegmentedControl aria-label="Kind" data={kinds} {...form.getInputProps('kind')} />
      <TextInput
        label="Address"
        description={
          of.below === '' || kind !== 'email' ? hints[kind] : 'The e-mail address of anybody.'
        }
        placeholder={of.below !== '' && kind === 'email' ? 'ops@example.com' : samples[kind]}
        data-autofocus
        withAsterisk
        {...form.getInputProps('address')}
      />
      <Checkbox.Group
        label="Events"
        description="None chosen: all of them, also those that later versions add."
        {...form.getInputProps('types')}
        value={[...form.values.types]}
      >
        <Stack gap="xs" mt="xs">
          {alerts.types.map(({ type, when }) => (
            <Checkbox key={type} value={type} label={type} description={when} />
          ))}
        </Stack>
      </Checkbox.Group>
    </SubmitForm>
  );
}
