import { Alert, Button, Group, Modal, SimpleGrid, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconDownload } from '@tabler/icons-react';
import { useServiceName, useUser } from '../../api/session.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { useLast } from '../../parts/use-last.ts';
import classes from './backup-codes-dialog.module.css';
import { backupCodesFile } from './second-factor-texts.ts';

type Props = {
  /** null: nothing is shown. */
  readonly codes: readonly string[] | null;
  readonly onClose: () => void;
};

/** The codes, which are shown this once: a stray click or key does not close them. */
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
            Keep them where you find them without your phone: they are shown only this once. Each signs you in once, in place of
            the app’s code.
          </Text>
        </Alert>
        <SimpleGrid component="ul" cols={2} spacing="xs" className={classes.codes} aria-label="Backup codes">
          {shown.map((code) => (
            <Text key={code} component="li" ff="monospace">
              {code}
            </Text>
          ))}
        </SimpleGrid>
        <Group justify="flex-end" gap="sm">
          <CopyButton text={shown.join('\n')} label="Copy" wide />
          <DownloadButton codes={shown} />
          <Button onClick={onClose}>I have kept them</Button>
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
