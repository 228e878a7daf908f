import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { Output } from '../../api/client.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';

type Props = {
  /** null: nothing is shown. */
  readonly made: Output<'POST /accounts/:account/keys'> | null;
  readonly onClose: () => void;
};

/** A new key's own text, which nobody will see again. A click beside the dialog does not close it. */
export function NewKeyDialog({ made, onClose }: Props) {
  return (
    <Modal
      opened={made !== null}
      onClose={onClose}
      title={`Key “${made?.key.name ?? ''}” is made`}
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      {made && (
        <Stack>
          <CodeBlock code={made.secret} label="The new key" />
          <Alert color="orange" variant="light" icon={<IconAlertTriangle size={18} aria-hidden />}>
            <Text inherit>
              Copy it now: it is shown only this once. Keep it like a password; whoever has it spends your balance.
            </Text>
          </Alert>
          <Group justify="flex-end">
            <CopyButton text={made.secret} label="Copy the key" wide />
            <Button onClick={onClose}>Done</Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
}
