// A link for a new password, to be handed over.
import { Button, Modal, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useChange } from '../../api/use-api.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { confirm } from '../../parts/confirm.tsx';

type Props = { readonly userId: string; readonly email: string };

export function ResetLinkButton({ userId, email }: Props) {
  const [link, setLink] = useState<string | null>(null);
  const reset = useChange('POST /operator/users/:user/reset-link', { invalidates: ['GET /operator/audit-log'] });
  const ask = () =>
    confirm({
      title: `Make a link for a new password of ${email}?`,
      text: 'Whoever opens the link can sign in as this person, where there is no second factor. Hand it over safely.',
      action: 'Make the link',
      run: async () => setLink((await reset.mutateAsync({ params: { user: userId } })).link),
    });
  return (
    <>
      <Button size="xs" variant="default" onClick={ask} aria-label={`Password link for ${email}`}>
        Password link…
      </Button>
      <Modal opened={link !== null} onClose={() => setLink(null)} title={`Password link for ${email}`}>
        <Stack>
          <Text>It works once, for 24 hours, and is shown only now.</Text>
          {link !== null && <CodeBlock code={link} label="Password link" />}
        </Stack>
      </Modal>
    </>
  );
}
