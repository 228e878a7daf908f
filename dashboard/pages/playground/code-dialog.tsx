import { Modal, Text } from '@mantine/core';
import { useSession } from '../../api/session.ts';
import { CodeTabs } from '../../parts/code-block.tsx';
import type { Json } from '../../api/chat-formats.ts';
import { codeSamples } from './code-samples.ts';

type Props = {
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly path: string;
  readonly body: Json;
};

/** Shows the current request as code. */
export function CodeDialog({ opened, onClose, path, body }: Props) {
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
        Set the environment variable API_KEY to your key.
      </Text>
      <CodeTabs samples={codeSamples({ baseUrl, path, body })} />
    </Modal>
  );
}
