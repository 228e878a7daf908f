// The user's name and e-mail address.
import { Badge, Button, Group, Input, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import type { Output } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { showSuccess, showError } from '../../parts/notify.ts';
import { Panel } from '../../parts/panel.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { SubmitForm } from '../../parts/submit-form.tsx';
import { useFormSubmit } from '../../parts/use-form-submit.ts';
import { checkEmail, checkName } from '../../parts/field-checks.ts';
import { NameForm } from './name-form.tsx';

type Profile = Output<'GET /profile'>;
type Props = { readonly profile: Profile };

export function ProfilePanel() {
  const profile = useApi('GET /profile', {});
  return (
    <Panel title="Profile">
      <QueryView query={profile}>
        {(data) => (
          <Stack gap="lg" maw={520}>
            <Name key={data.name} profile={data} />
            <Email profile={data} />
          </Stack>
        )}
      </QueryView>
    </Panel>
  );
}

function Name({ profile: { name } }: Props) {
  const rename = useChange('PATCH /profile', {
    invalidates: ['GET /profile', 'GET /session'],
    onSuccess: () => showSuccess('Name changed.'),
  });
  return (
    <NameForm
      name={name}
      autoComplete="name"
      check={checkName}
      rename={(body) => rename.mutateAsync({ body })}
    />
  );
}

function Email({ profile }: Props) {
  const { smtp: hasMail } = useSession().features;
  const [isOpen, setOpen] = useState(false);
  const resend = useChange('POST /auth/verify-email/send', {
    onSuccess: () => showSuccess(`Confirmation link sent to ${profile.email}.`),
  });
  const close = () => setOpen(false);
  return (
    <Input.Wrapper label="E-mail" labelElement="div">
      <Group gap="sm">
        <Text style={{ overflowWrap: 'anywhere' }}>{profile.email}</Text>
        {profile.email_verified && <Badge color="green">Confirmed</Badge>}
        {!profile.email_verified && hasMail && <Badge color="orange">Not confirmed</Badge>}
      </Group>
      <Group gap="sm" mt="sm">
        <Button variant="default" onClick={() => setOpen(true)}>
          Change e-mail
        </Button>
        {!profile.email_verified && hasMail && (
          <Button
            variant="subtle"
            loading={resend.isPending}
            onClick={() => resend.mutate({}, { onError: showError })}
          >
            Resend link
          </Button>
        )}
      </Group>
      <Modal opened={isOpen} onClose={close} title="Change e-mail">
        <EmailForm profile={profile} onClose={close} />
      </Modal>
    </Input.Wrapper>
  );
}

function EmailForm({ profile, onClose }: Props & { readonly onClose: () => void }) {
  const [sentTo, setSentTo] = useState<string | null>(null);
  const change = useChange('POST /profile/email', {
    invalidates: ['GET /profile', 'GET /session'],
  });
  const form = useForm({
    initialValues: { email: '' },
    validate: { email: checkEmail },
  });
  const sending = useFormSubmit(
    form,
    async ({ email }) => {
      const { next } = await change.mutateAsync({ body: { email: email.trim() } });
      if (next === 'check-email') {
        setSentTo(email.trim());
        return;
      }
      showSuccess('E-mail changed.');
      onClose();
    },
    { email: 'email' },
  );
  if (sentTo !== null) {
    return (
      <Stack>
        <Text role="status" style={{ overflowWrap: 'anywhere' }}>
          A link was sent to {sentTo}. Open it to confirm the change. Until then, sign in with{' '}
          {profile.email}.
        </Text>
        <Group justify="flex-end">
          <Button onClick={onClose}>Done</Button>
        </Group>
      </Stack>
    );
  }
  return (
    <SubmitForm sending={sending} submit="Change" onClose={onClose}>
      <TextInput
        label="New e-mail"
        type="email"
        autoComplete="email"
        data-autofocus
        {...form.getInputProps('email')}
      />
    </SubmitForm>
  );
}
