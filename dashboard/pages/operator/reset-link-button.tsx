// Creates a password reset link for a user.
import { Button, Modal, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useChange } from '../../api/use-api.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { confirm } from '../../parts/confirm.tsx';

type Props = { readonly userId: string; readonly email: string };

export function ResetLinkButton({ userId, email }: Props) {
  const [link, setLink] = useState<string | null>(null);
  const reset = useChange('POST /operator/users/:user/reset-link', {
    invalidates: ['GET /operator/audit-log'],
  });
  const ask = () =>
    confirm({
      title: `Create a password reset link for ${email}?`,
      text: 'Anyone who opens the link can set a new password and, without two-factor authentication, sign in as this user. Send it only to them.',
      action: 'Create link',
      run: async () => setLink((await reset.mutateAsync({ params: { user: userId } })).link),
    });
  return (
    <>
      <Button
        size="xs"
        variant="default"
        onClick={ask}
        aria-label={`Password reset link for ${email}`}
      >
        Reset link…
      </Button>
      <Modal
        opened={link !== null}
        onClose={() => setLink(null)}
        title={`Password reset link for ${email}`}
      >
        <Stack>
          <Text>It works once and expires in 24 hours. It is shown only now.</Text>
          {link !== null && <CodeBlock code={link} label="Password reset link" />}
        </Stack>
      </Modal>
    </>
  );
}
