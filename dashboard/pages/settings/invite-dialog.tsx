// Invites a user: by e-mail if there is a mail server, and always by a link to share.
import { Button, Code, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useAccount } from '../../api/account.ts';
import type { Output } from '../../api/client.ts';
import { useChange } from '../../api/use-api.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import type { Role } from '../../parts/role-title.ts';
import { useFormSubmit } from '../../parts/use-form-submit.ts';
import { useLast } from '../../parts/use-last.ts';
import { checkEmail } from '../../parts/field-checks.ts';
import { DialogButtons } from '../../parts/dialog-buttons.tsx';
import classes from './invite-dialog.module.css';
import { roleOptions, roleTexts } from './roles.ts';

type Props = { readonly opened: boolean; readonly onClose: () => void };
type Created = Output<'POST /accounts/:account/invitations'> & { readonly email: string };

/** Creates an invitation, then shows its link once. */
export function InviteDialog({ opened, onClose }: Props) {
  const [created, setCreated] = useState<Created | null>(null);
  return (
    <>
      <Modal opened={opened} onClose={onClose} title="Invite someone">
        <InviteForm
          onClose={onClose}
          onCreated={(invitation) => {
            setCreated(invitation);
            onClose();
          }}
        />
      </Modal>
      <LinkDialog created={created} onClose={() => setCreated(null)} />
    </>
  );
}

function InviteForm({
  onCreated,
  onClose,
}: {
  readonly onCreated: (created: Created) => void;
  readonly onClose: () => void;
}) {
  const { role: own } = useAccount();
  const invite = useChange('POST /accounts/:account/invitations', {
    invalidates: ['GET /accounts/:account/invitations'],
  });
  const form = useForm<{ email: string; role: Role }>({
    initialValues: { email: '', role: 'member' },
    validate: { email: checkEmail },
  });
  const { onSubmit, error, isSubmitting } = useFormSubmit(
    form,
    async ({ email: entered, role }) => {
      const email = entered.trim();
      onCreated({ ...(await invite.mutateAsync({ body: { email, role } })), email });
    },
    { email: 'email', role: 'role' },
  );
  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack>
        <TextInput
          label="E-mail"
          type="email"
          autoComplete="off"
          data-autofocus
          {...form.getInputProps('email')}
        />
        <Select
          label="Role"
          description={roleTexts[form.values.role]}
          data={roleOptions(own)}
          allowDeselect={false}
          {...form.getInputProps('role')}
        />
        {error && <ErrorNotice error={error} />}
        <DialogButtons submit="Invite" isSubmitting={isSubmitting} onClose={onClose} />
      </Stack>
    </form>
  );
}

/** A click outside does not close the dialog: the link is shown only once. */
function LinkDialog({
  created,
  onClose,
}: {
  readonly created: Created | null;
  readonly onClose: () => void;
}) {
  const shown = useLast(created);
  return (
    <Modal
      opened={created !== null}
      onClose={onClose}
      title="Invitation created"
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      {shown && (
        <Stack>
          <Text style={{ overflowWrap: 'anywhere' }}>
            {shown.mailed
              ? `An invitation was e-mailed to ${shown.email}. You can also share this link, which does not confirm the address.`
              : `Send this link to ${shown.email}. No e-mail was sent because this service has no mail server.`}
          </Text>
          <Code block className={classes.link} role="region" aria-label="Invitation link">
            {shown.link}
          </Code>
          <Text size="sm" c="dimmed">
            It works once, only for this address, and expires in seven days. It is shown only now.
          </Text>
          <Group justify="flex-end">
            <CopyButton text={shown.link} label="Copy link" wide />
            <Button onClick={onClose}>Done</Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
}
