import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { CodeBlock } from './code-block.tsx';
import { CopyButton } from './copy-button.tsx';

type Props = {
  /** Null closes the dialog. */
  readonly created: { readonly key: { readonly name: string }; readonly secret: string } | null;
  /** Completes "anyone who has it can …". */
  readonly power: string;
  readonly onClose: () => void;
  /** What has the secret. */
  readonly what?: 'Key' | 'Webhook';
  /** What was done to the key. */
  readonly verb?: 'created' | 'rotated' | 'has a new secret';
  /** Shown below the key: how to use it. */
  readonly children?: ReactNode;
};

/**
 * Shows the secret of a new key, once. A click outside does not close the dialog. The form that led
 * here is gone when it closes, so the focus goes to the page.
 */
export function NewKeyDialog({
  created,
  power,
  onClose,
  verb = 'created',
  what = 'Key',
  children,
}: Props) {
  const word = what === 'Key' ? 'key' : 'secret';
  return (
    <Modal
      opened={created !== null}
      onClose={onClose}
      title={`${what} “${created?.key.name ?? ''}” ${verb}`}
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
      returnFocus={false}
      onExitTransitionEnd={() => document.getElementById('page')?.focus()}
    >
      {created && (
        <Stack>
          <CodeBlock code={created.secret} label={`The new ${word}`} />
          <Alert color="orange" variant="light" icon={<IconAlertTriangle size={18} aria-hidden />}>
            <Text inherit>
              Copy it now. It is shown only once. Keep it secret: anyone who has it can {power}.
            </Text>
          </Alert>
          {children}
          <Group justify="flex-end">
            <CopyButton text={created.secret} label={`Copy ${word}`} wide />
            <Button onClick={onClose}>Done</Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
}

/** The same within a page. */
export function NewKeyNotice({ secret }: { readonly secret: string }) {
  return (
    <Stack gap="sm">
      <CodeBlock code={secret} label="Your new key" />
      <Alert
        color="orange"
        variant="light"
        py="xs"
        icon={<IconAlertTriangle size={18} aria-hidden />}
      >
        Copy it now. It is shown only once.
      </Alert>
    </Stack>
  );
}
