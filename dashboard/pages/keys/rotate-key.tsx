// Gives a key a new text. Its caps, limits and history stay.
import { Button, Group, Modal, Select, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { Output } from '../../api/client.ts';
import { useChange } from '../../api/use-api.ts';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { NewKeyDialog } from '../../parts/new-key-dialog.tsx';
import { KeyCode } from './key-code.tsx';
import { keyTitle, type Key } from './key-values.ts';

const overlaps = [
  { value: '0', label: 'Ends now' },
  { value: '1', label: 'Works for 1 hour more' },
  { value: '24', label: 'Works for 24 hours more' },
  { value: '168', label: 'Works for 7 days more' },
  { value: '720', label: 'Works for 30 days more' },
];

type Props = {
  /** Null closes the dialog. */
  readonly row: Key | null;
  readonly onClose: () => void;
};

export function RotateKey({ row, onClose }: Props) {
  const [overlap, setOverlap] = useState('24');
  const [made, setMade] = useState<Output<'POST /accounts/:account/keys'> | null>(null);
  const rotate = useChange('POST /accounts/:account/keys/:key/rotate', {
    invalidates: ['GET /accounts/:account/keys', 'GET /accounts/:account/keys/:key'],
  });
  const close = () => {
    rotate.reset();
    onClose();
  };
  const run = async (key: Key) => {
    const body = { overlap_hours: Number(overlap) };
    setMade(await rotate.mutateAsync({ params: { key: key.id }, body }));
    onClose();
  };
  return (
    <>
      <Modal
        opened={row !== null}
        onClose={close}
        title={`Rotate the key “${row ? keyTitle(row) : ''}”`}
      >
        <Stack>
          <Text>
            You get a new key text. The caps, limits and requests of the key stay as they are.
          </Text>
          <Select
            label={`The text before (${row?.hint ?? ''})`}
            data={overlaps}
            value={overlap}
            onChange={(value) => setOverlap(value ?? '24')}
            allowDeselect={false}
          />
          {rotate.error && <ErrorNotice error={rotate.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={close} disabled={rotate.isPending}>
              Cancel
            </Button>
            <Button
              loading={rotate.isPending}
              onClick={() => row && void run(row).catch(() => undefined)}
            >
              Rotate key
            </Button>
          </Group>
        </Stack>
      </Modal>
      <NewKeyDialog
        created={made && { ...made, key: { name: keyTitle(made.key) } }}
        power="spend your balance"
        verb="rotated"
        onClose={() => setMade(null)}
      >
        {made && <KeyCode row={made.key} secret={made.secret} />}
      </NewKeyDialog>
    </>
  );
}
