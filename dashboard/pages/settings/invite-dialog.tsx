// Invites a user: by e-mail if there is a mail server, and always by a link to share.
import { Button, Code, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useAccount } from '../../api/account.ts';
import type { Output } from '../../api/client.ts';
import { useChange } from '../../api/use-api.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import type { Role } from '../../parts/role-title.ts';
import { SubmitForm } from '../../parts/submit-form.tsx';
import { useFormSubmit } from '../../parts/use-form-submit.ts';
import { checkEmail } from '../../parts/field-checks.ts';
import classes from './invite-dialog.module.css';
import { roleOptions, roleTexts } from './roles.ts';

type Props = { readonly opened: boolean; readonly onClose: () => void };
type Created = Output<'POST /accounts/:account/invitations'> & { readonly email: string };

/** Creates an invitation, then shows its link once. */
export function InviteDialog({ opened, onClose }: Props) {
  const [created, setCreated] = useState<Created | null>(null);
  // A click outside does not close the dialog with the link, which is shown only once. It is the
  // same dialog, so that the focus returns to the button that opened it.
  const isForm = created === null;
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      onExitTransitionEnd={() => setCreated(null)}
      title={isForm ? 'Invite someone' : 'Invitation created'}
      size={isForm ? 'md' : 'lg'}
      closeOnClickOutside={isForm}
      closeOnEscape={isForm}
      withCloseButton={isForm}
    >
      {isForm ? (
        <InviteForm onClose={onClose} onCreated={setCreated} />
      ) : (
        <CreatedLink created={created} onClose={onClose} />
      )}
    </Modal>
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
  const sending = useFormSubmit(
    form,
    async ({ email: entered, role }) => {
      const email = entered.trim();
      onCreated({ ...(await invite.mutateAsync({ body: { email, role } })), email });
    },
    { email: 'email', role: 'role' },
  );
  return (
    <SubmitForm sending={sending} submit="Invite" onClose={onClose}>
      <TextInput label="E-mail" type="email" data-autofocus {...form.getInputProps('email')} />
      <Select
        label="Role"
        description={roleTexts[form.values.role]}
        data={roleOptions(own)}
        allowDeselect={false}
        {...form.getInputProps('role')}
      />
    </SubmitForm>
  );
}

function CreatedLink({
  created: { email, link, mailed },
  onClose,
}: {
  readonly created: Created;
  readonly onClose: () => void;
}) {
  return (
    <Stack>
      <Text style={{ overflowWrap: 'anywhere' }}>
        {mailed
          ? `An invitation was e-mailed to ${email}. You can also share this link, which does not confirm the address.`
          : `Send this link to ${email}. No e-mail was sent because this service has no mail server.`}
      </Text>
      <Code block className={classes.link} role="region" aria-label="Invitation link">
        {link}
      </Code>
      <Text size="sm" c="dimmed">
        It works once, only for this address, and expires in seven days. It is shown only now.
      </Text>
      <Group justify="flex-end">
        <CopyButton text={link} label="Copy link" wide autoFocus />
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}
