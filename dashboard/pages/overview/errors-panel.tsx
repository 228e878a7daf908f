import { Badge, Group, Stack, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { Output } from '../../api/client.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { DataTable, type Column } from '../../parts/data-table.tsx';
import { countText } from '../../parts/number-text.ts';
import { AppLink } from '../../parts/link.tsx';
import { Panel } from '../../parts/panel.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';

type Overview = Output<'GET /accounts/:account/overview'>;
type RecentError = Overview['recent_errors'][number];

/** Renders nothing when there were no errors. */
export function ErrorsPanel({ overview }: { readonly overview: Overview }) {
  const { errors, recent_errors: recent } = overview;
  const navigate = useNavigate();
  if (errors.length === 0 && recent.length === 0) return null;
  return (
    <Panel
      title="Recent errors"
      description="Requests that were refused or failed in the last 30 days. None was charged."
      flush
    >
      <Stack gap="sm">
        <Group
          gap="xs"
          px="lg"
          component="ul"
          m={0}
          style={{ listStyle: 'none' }}
          aria-label="Errors by code"
        >
          {errors.map(({ code, requests }) => (
            <li key={code}>
              <Badge color="red" size="lg" tt="none">
                <AppLink
                  to="/requests"
                  search={(before) => ({ account: before.account, mode: before.mode, code })}
                  c="inherit"
                  inherit
                >
                  {code}: {countText(requests)}
                </AppLink>
              </Badge>
            </li>
          ))}
        </Group>
        {recent.length > 0 && (
          <DataTable
            label="Recent errors"
            rows={recent}
            columns={columns}
            rowKey={(error) => error.request_id}
            onOpen={({ request_id: request }) =>
              void navigate({
                to: '/requests',
                search: (before) => ({ account: before.account, mode: before.mode, request }),
              })
            }
            empty={null}
          />
        )}
      </Stack>
    </Panel>
  );
}

const columns: readonly Column<RecentError>[] = [
  {
    title: 'When',
    kind: 'time',
    value: (error) => error.created_at,
    render: (error) => <TimeAgo at={error.created_at} />,
  },
  { title: 'Error', value: (error) => error.code, phone: 'title', render: (error) => error.code },
  {
    title: 'Model',
    value: (error) => error.model,
    render: (error) => error.model ?? <Text c="dimmed">–</Text>,
  },
  {
    title: 'Key',
    value: (error) => error.key.name,
    render: (error) => error.key.name || error.key.id,
  },
  {
    title: 'Endpoint',
    value: (error) => error.path,
    phone: 'hidden',
    render: (error) => error.path,
  },
  {
    title: 'Request ID',
    render: (error) => (
      <Group gap={4} wrap="nowrap" display="inline-flex">
        <Text inherit truncate maw={140} ff="monospace" size="sm" title={error.request_id}>
          {error.request_id}
        </Text>
        <CopyButton text={error.request_id} label="Copy request ID" />
      </Group>
    ),
  },
];
