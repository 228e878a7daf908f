import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { Output } from '../../api/client.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';

type Props = {
  /** Null closes the dialog. */
  readonly created: Output<'POST /accounts/:account/keys'> | null;
  readonly onClose: () => void;
};

/** Shows the secret of a new key, once. A click outside does not close the dialog. */
export function NewKeyDialog({ created, onClose }: Props) {
  return (
    <Modal
      opened={created !== null}
      onClose={onClose}
      title={`Key “${created?.key.name ?? ''}” created`}
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      {created && (
        <Stack>
          <CodeBlock code={created.secret} label="The new key" />
          <Alert color="orange" variant="light" icon={<IconAlertTriangle size={18} aria-hidden />}>
            <Text inherit>
              Copy it now. It is shown only once. Keep it secret: anyone who has it can spend your
              balance.
            </Text>
          </Alert>
          <Group justify="flex-end">
            <CopyButton text={created.secret} label="Copy key" wide />
            <Button onClick={onClose}>Done</Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
}
