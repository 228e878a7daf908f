import { Alert, Button, Group, Modal, SimpleGrid, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconDownload } from '@tabler/icons-react';
import { useServiceName, useUser } from '../../api/session.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { useLast } from '../../parts/use-last.ts';
import classes from './backup-codes-dialog.module.css';
import { backupCodesFile } from '../../parts/second-factor-codes.ts';

type Props = {
  /** Null closes the dialog. */
  readonly codes: readonly string[] | null;
  readonly onClose: () => void;
};

/** Shows the codes once. A click outside or Escape does not close the dialog. */
export function BackupCodesDialog({ codes, onClose }: Props) {
  const shown = useLast(codes) ?? [];
  return (
    <Modal
      opened={codes !== null}
      onClose={onClose}
      title="Your backup codes"
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack>
        <Alert color="orange" variant="light" icon={<IconAlertTriangle size={18} aria-hidden />}>
          <Text inherit>
            Save them where you can find them without your phone. They are shown only once. Each
            code works once, instead of a code from the app.
          </Text>
        </Alert>
        <SimpleGrid
          component="ul"
          cols={2}
          spacing="xs"
          className={classes.codes}
          aria-label="Backup codes"
        >
          {shown.map((code) => (
            <Text key={code} component="li" ff="monospace">
              {code}
            </Text>
          ))}
        </SimpleGrid>
        <Group justify="flex-end" gap="sm">
          <CopyButton text={shown.join('\n')} label="Copy" wide />
          <DownloadButton codes={shown} />
          <Button onClick={onClose}>I have saved them</Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function DownloadButton({ codes }: { readonly codes: readonly string[] }) {
  const { email } = useUser();
  const { name, text } = backupCodesFile({ serviceName: useServiceName(), email, codes });
  return (
    <Button
      component="a"
      href={`data:text/plain;charset=utf-8,${encodeURIComponent(text)}`}
      download={name}
      variant="default"
      leftSection={<IconDownload size={16} aria-hidden />}
    >
      Download
    </Button>
  );
}
