// Name and e-mail address of whoever is signed in.
import { Badge, Button, Group, Modal, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import type { Output } from '../../api/client.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { showDone, showError } from '../../parts/notify.ts';
import { Panel } from '../../parts/panel.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { useFormSubmit } from '../../parts/use-form-submit.ts';
import { checkEmail, checkName } from '../sign-in/fields.ts';

type Profile = Output<'GET /profile'>;

export function ProfilePanel() {
  const profile = useApi('GET /profile', {});
  return (
    <Panel title="Profile">
      <QueryView query={profile}>
        {(data) => (
          <Stack gap="lg" maw={520}>
            <NameForm profile={data} />
            <Email profile={data} />
          </Stack>
        )}
      </QueryView>
    </Panel>
  );
}

function NameForm({ profile }: { readonly profile: Profile }) {
  const rename = useChange('PATCH /profile', {
    invalidates: ['GET /profile', 'GET /session'],
    onSuccess: () => showDone('Your name is changed.'),
  });
  const form = useForm({ initialValues: { name: profile.name }, validate: { name: checkName } });
  const { onSubmit, error, isSubmitting } = useFormSubmit(form, (body) => rename.mutateAsync({ body }), { name: 'name' });
  const isSame = form.values.name.trim() === profile.name;
  return (
    <form onSubmit={onSubmit} noValidate>
      <Group align="flex-end" gap="sm" wrap="nowrap">
        <TextInput label="Name" autoComplete="name" flex={1} {...form.getInputProps('name')} />
        <Button type="submit" variant="default" loading={isSubmitting} disabled={isSame}>
          Save
        </Button>
      </Group>
      {error && <ErrorNotice error={error} />}
    </form>
  );
}

function Email({ profile }: { readonly profile: Profile }) {
  const [isOpen, setOpen] = useState(false);
  const resend = useChange('POST /auth/verify-email/send', {
    onSuccess: () => showDone(`A link is on its way to ${profile.email}.`),
  });
  return (
    <Stack gap={4}>
      <Text fw={600}>E-mail</Text>
      <Group gap="sm">
        <Text style={{ overflowWrap: 'anywhere' }}>{profile.email}</Text>
        <Badge variant="light" color={profile.email_verified ? 'green' : 'orange'}>
          {profile.email_verified ? 'Confirmed' : 'Not confirmed'}
        </Badge>
      </Group>
      <Group gap="sm" mt={4}>
        <Button variant="default" onClick={() => setOpen(true)} disabled={!profile.has_password}>
          Change e-mail
        </Button>
        {!profile.email_verified && (
          <Button variant="subtle" loading={resend.isPending} onClick={() => void resend.mutateAsync({}).catch(showError)}>
            Send the confirmation again
          </Button>
        )}
      </Group>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title="Change e-mail">
        <EmailForm onClose={() => setOpen(false)} />
      </Modal>
    </Stack>
  );
}

function EmailForm({ onClose }: { readonly onClose: () => void }) {
  const change = useChange('POST /profile/email', { invalidates: ['GET /profile', 'GET /session'] });
  const form = useForm({
    initialValues: { email: '', password: '' },
    validate: { email: checkEmail, password: (password) => (password === '' ? 'Enter your password.' : null) },
  });
  const { onSubmit, error, isSubmitting } = useFormSubmit(
    form,
    async (body) => {
      const { next } = await change.mutateAsync({ body });
      showDone(next === 'done' ? 'Your e-mail is changed.' : `Open the link that is on its way to ${body.email.trim()}.`);
      onClose();
    },
    { email: 'email', password: 'password' },
  );
  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack>
        <TextInput label="New e-mail" type="email" autoComplete="email" data-autofocus {...form.getInputProps('email')} />
        <PasswordInput label="Your password" autoComplete="current-password" {...form.getInputProps('password')} />
        {error && <ErrorNotice error={error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={isSubmitting}>
            Change e-mail
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
