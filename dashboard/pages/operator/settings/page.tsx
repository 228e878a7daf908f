// What the configuration says. It is changed in its file and the environment, and read at the start.
import { Alert, Badge, Code, Group, List, Stack, Switch, Text } from '@mantine/core';
import { IconAdjustments, IconAlertTriangle } from '@tabler/icons-react';
import { useUrlState } from '../../../app/url-state.ts';
import type { Output } from '../../../api/client.ts';
import { useApi } from '../../../api/use-api.ts';
import { DataTable, type Column } from '../../../parts/data-table.tsx';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { PageHeader } from '../../../parts/page-header.tsx';
import { Panel } from '../../../parts/panel.tsx';
import { SearchField } from '../../../parts/search-field.tsx';

type Setting = Output<'GET /operator/settings'>['settings'][number];

export function Page() {
  const settings = useApi('GET /operator/settings', {});
  const [{ search, onlyOwn }, setState] = useUrlState(({ q = '', own }) => ({ search: q, onlyOwn: own === 'yes' }));
  const { data } = settings;
  const fits = ({ path, description, is_default }: Setting) =>
    `${path} ${description}`.toLowerCase().includes(search.toLowerCase()) && !(onlyOwn && is_default);
  return (
    <>
      <PageHeader
        title="Configuration"
        description={
          data
            ? `As this gateway read it at its start, on ${data.database === 'sqlite' ? 'SQLite' : 'PostgreSQL'}, with its files in ${data.data_dir}.`
            : 'As this gateway read it at its start.'
        }
      />
      <Stack>
        {data && data.warnings.length > 0 && (
          <Alert color="orange" icon={<IconAlertTriangle aria-hidden />} title="Warnings">
            <List size="sm">
              {data.warnings.map((warning) => (
                <List.Item key={warning}>{warning}</List.Item>
              ))}
            </List>
          </Alert>
        )}
        <Group gap="lg">
          <SearchField
            label="Search settings"
            value={search}
            onSearch={(text) => setState({ q: text.trim() })}
            style={{ flex: '1 1 220px' }}
            maw={360}
          />
          <Switch
            label="Only what differs from the default"
            checked={onlyOwn}
            onChange={(event) => setState({ own: event.currentTarget.checked ? 'yes' : undefined })}
          />
        </Group>
        <Panel flush>
          <DataTable
            label="Settings"
            rows={data?.settings.filter(fits)}
            error={settings.error}
            onRetry={() => void settings.refetch()}
            columns={columns}
            rowKey={({ path }) => path}
            empty={<EmptyState icon={IconAdjustments} title="No setting fits" />}
          />
        </Panel>
      </Stack>
    </>
  );
}

const columns: readonly Column<Setting>[] = [
  {
    title: 'Setting',
    phone: 'title',
    render: (setting) => (
      <>
        <Text ff="monospace" size="sm" style={{ overflowWrap: 'anywhere' }}>
          {setting.path}
        </Text>
        <Text size="xs" c="dimmed" maw={520}>
          {setting.description.replaceAll('`', '')}
        </Text>
      </>
    ),
  },
  {
    title: 'Value',
    render: (setting) => (
      <Group gap="xs">
        <Value setting={setting} />
        {!setting.is_default && <Badge color="accent">Set</Badge>}
      </Group>
    ),
  },
];

function Value({ setting }: { readonly setting: Setting }) {
  if (!setting.is_set) return <Text c="dimmed">Not set</Text>;
  if (setting.is_secret) return <Text aria-label="A secret, not shown">••••••••</Text>;
  return (
    <Code style={{ overflowWrap: 'anywhere', whiteSpace: 'normal' }}>
      {typeof setting.value === 'string' ? setting.value : JSON.stringify(setting.value)}
    </Code>
  );
}
