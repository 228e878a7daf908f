import { Modal, Text } from '@mantine/core';
import { useSession } from '../../../api/session.ts';
import { CodeTabs } from '../../../parts/code-block.tsx';
import type { Json } from '../../../api/chat-formats/types.ts';
import { codeSamples, type SampleFile } from './code-samples.ts';

type Props = {
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly path: string;
  readonly body: Json;
  readonly files: readonly SampleFile[];
};

/** Shows a request as code, exactly as it is sent. */
export function CodeDialog({ opened, onClose, path, body, files }: Props) {
  const { public_url: baseUrl } = useSession().features;
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title="This request as code"
      size="xl"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Text c="dimmed" size="sm" mb="sm">
        Set the environment variable TOLLGATE_KEY to your key.
        {files.length > 0 && ' The code reads the files from the folder in which it runs.'}
      </Text>
      {opened && <CodeTabs samples={codeSamples({ baseUrl, path, body, files })} />}
    </Modal>
  );
}
