// Inviting somebody: by e-mail where there is a mail server, and by a link to hand over in any case.
import { Button, Code, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useAccount } from '../../app/account.ts';
import type { Output } from '../../api/client.ts';
import { useChange } from '../../api/use-api.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { useFormSubmit } from '../../parts/use-form-submit.ts';
import { useLast } from '../../parts/use-last.ts';
import { checkEmail } from '../sign-in/fields.ts';
import classes from './invite-dialog.module.css';
import { roleOptions, roleTexts, type Role } from './roles.ts';

type Props = { readonly opened: boolean; readonly onClose: () => void };
type Made = Output<'POST /accounts/:account/invitations'> & { readonly email: string };

/** Makes an invitation, then shows its link, once. */
export function InviteDialog({ opened, onClose }: Props) {
  const [made, setMade] = useState<Made | null>(null);
  return (
    <>
      <Modal opened={opened} onClose={onClose} title="Invite somebody">
        <InviteForm
          onClose={onClose}
          onMade={(invitation) => {
            setMade(invitation);
            onClose();
          }}
        />
      </Modal>
      <LinkDialog made={made} onClose={() => setMade(null)} />
    </>
  );
}

function InviteForm({ onMade, onClose }: { readonly onMade: (made: Made) => void; readonly onClose: () => void }) {
  const { role: own } = useAccount();
  const invite = useChange('POST /accounts/:account/invitations', { invalidates: ['GET /accounts/:account/invitations'] });
  const form = useForm<{ email: string; role: Role }>({
    initialValues: { email: '', role: 'member' },
    validate: { email: checkEmail },
  });
  const { onSubmit, error, isSubmitting } = useFormSubmit(
    form,
    async ({ email: entered, role }) => {
      const email = entered.trim();
      onMade({ ...(await invite.mutateAsync({ body: { email, role } })), email });
    },
    { email: 'email', role: 'role' },
  );
  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack>
        <TextInput label="E-mail" type="email" autoComplete="off" data-autofocus {...form.getInputProps('email')} />
        <Select
          label="Role"
          description={roleTexts[form.values.role]}
          data={roleOptions(own)}
          allowDeselect={false}
          {...form.getInputProps('role')}
        />
        {error && <ErrorNotice error={error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} disabled={isSubmitting}>
            Cancel
          </Button>
          <Button type="submit" loading={isSubmitting}>
            Invite
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** A click beside it does not close it: nobody sees the link again. */
function LinkDialog({ made, onClose }: { readonly made: Made | null; readonly onClose: () => void }) {
  const shown = useLast(made);
  return (
    <Modal
      opened={made !== null}
      onClose={onClose}
      title="The invitation is made"
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      {shown && (
        <Stack>
          <Text style={{ overflowWrap: 'anywhere' }}>
            {shown.mailed
              ? `An e-mail with a link of its own is on its way to ${shown.email}. You can also hand over this one, which does not confirm the address.`
              : `Hand this link over to ${shown.email}: no e-mail was sent, since this service has no mail server.`}
          </Text>
          <Code block className={classes.link} role="region" aria-label="The invitation’s link">
            {shown.link}
          </Code>
          <Text size="sm" c="dimmed">
            It works once, and only for this address, for seven days. It is shown only now.
          </Text>
          <Group justify="flex-end">
            <CopyButton text={shown.link} label="Copy the link" wide />
            <Button onClick={onClose}>Done</Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
}
