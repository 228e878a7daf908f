// The versions of the saved settings: going back, reading the file again, and the whole as a file.
import { Alert, Button, Group, Modal, Text } from '@mantine/core';
import {
  IconAlertTriangle,
  IconArrowBackUp,
  IconFileExport,
  IconRefresh,
} from '@tabler/icons-react';
import { useState } from 'react';
import type { Output } from '../../../api/client.ts';
import { useApi, useChange } from '../../../api/use-api.ts';
import { CodeBlock } from '../../../parts/code-block.tsx';
import { confirm } from '../../../parts/confirm.tsx';
import { DataTable, type Column } from '../../../parts/data-table.tsx';
import { showError, showSuccess } from '../../../parts/notify.ts';
import { Panel } from '../../../parts/panel.tsx';
import { DateTime } from '../../../parts/time-ago.tsx';
import { dependents, useSaved } from '../saved/use-saved.ts';

type Version = Output<'GET /operator/settings/versions'>['data'][number];

/** How many are shown at first. */
const shortMax = 5;

export function Versions() {
  const saved = useSaved();
  const versions = useApi('GET /operator/settings/versions', {});
  const restore = useChange('POST /operator/settings/restore', { invalidates: dependents });
  const reload = useChange('POST /operator/settings/reload', { invalidates: dependents });
  const write = useChange('POST /operator/settings/export');
  const [isLong, setLong] = useState(false);
  const [file, setFile] = useState<string | null>(null);
  const newest = saved.data?.version ?? 0;
  const goTo = async (version: number) => {
    try {
      await restore.mutateAsync({ body: { version: newest, restored: version } });
    } catch (error) {
      await Promise.all([saved.refetch(), versions.refetch()]);
      throw error;
    }
    showSuccess(`The settings are as in version ${version}.`);
  };
  const readAgain = async () => {
    const { problem } = await reload.mutateAsync({});
    if (problem === null) showSuccess('Every gateway reads its file again.');
  };
  const columns: readonly Column<Version>[] = [
    {
      title: 'Version',
      render: ({ version }) => version,
    },
    { title: 'Saved', kind: 'time', render: ({ created_at: at }) => <DateTime at={at} /> },
    { title: 'By', render: ({ author }) => author },
    {
      title: 'Change',
      phone: 'title',
      render: ({ note }) => <Text style={{ overflowWrap: 'anywhere' }}>{note}</Text>,
    },
    {
      title: '',
      render: ({ version }) =>
        version === newest ? (
          <Button
            size="xs"
            variant="default"
            leftSection={<IconArrowBackUp size={14} aria-hidden />}
            loading={restore.isPending}
            onClick={() => void goTo(version - 1).catch(showError)}
          >
            Undo
          </Button>
        ) : (
          <Button
            size="xs"
            variant="default"
            aria-label={`Restore version ${version}`}
            onClick={() =>
              confirm({
                title: `Restore version ${version}?`,
                text: 'Everything that was saved after it is undone, as a new version. The versions after it stay in this list.',
                action: 'Restore',
                run: () => goTo(version),
              })
            }
          >
            Restore…
          </Button>
        ),
    },
  ];
  return (
    <>
      {saved.data && <Trouble saved={saved.data} />}
      <Panel
        title="Saved settings"
        description="Providers, models and prices that were saved here. The last 100 versions are kept."
        flush
        actions={
          <Group gap="xs">
            <Button
              variant="default"
              leftSection={<IconRefresh size={16} aria-hidden />}
              loading={reload.isPending}
              onClick={() => void readAgain().catch(showError)}
            >
              Read the file again
            </Button>
            <Button
              variant="default"
              leftSection={<IconFileExport size={16} aria-hidden />}
              loading={write.isPending}
              onClick={() =>
                void write.mutateAsync({}).then(({ yaml }) => setFile(yaml), showError)
              }
            >
              Export
            </Button>
          </Group>
        }
      >
        <DataTable
          label="Versions"
          rows={versions.data?.data}
          error={versions.error}
          onRetry={() => void versions.refetch()}
          columns={columns}
          rowKey={({ version }) => String(version)}
          rowsMax={isLong ? undefined : shortMax}
          empty={
            <Text p="lg" c="dimmed">
              Nothing was saved yet: everything comes from the file and the environment.
            </Text>
          }
        />
        {!isLong && (versions.data?.data.length ?? 0) > shortMax && (
          <Button variant="subtle" m="md" onClick={() => setLong(true)}>
            Show all versions
          </Button>
        )}
      </Panel>
      <Modal
        opened={file !== null}
        onClose={() => setFile(null)}
        title="The saved settings as a file"
        size="lg"
      >
        <Text size="sm" c="dimmed" mb="sm">
          Credentials are variables, which you set yourself.
        </Text>
        <CodeBlock code={file ?? ''} label="Configuration file" isHigh />
      </Modal>
    </>
  );
}

/** Tells that this gateway does not use what is newest. */
function Trouble({ saved }: { readonly saved: Output<'GET /operator/settings/saved'> }) {
  const { problem, in_force: inForce, version } = saved;
  if (problem === null && inForce === version) return null;
  return (
    <Alert
      color="orange"
      icon={<IconAlertTriangle aria-hidden />}
      title={`This gateway uses version ${inForce}, not the newest, ${version}`}
    >
      <Text inherit style={{ overflowWrap: 'anywhere' }}>
        {problem ?? 'It follows within two seconds.'}
      </Text>
    </Alert>
  );
}
