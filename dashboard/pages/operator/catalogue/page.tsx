// What keeps models of the catalogue from running.
import { Alert, Badge, List, Select, SimpleGrid, Stack, Text } from '@mantine/core';
import { IconCircleCheck, IconInfoCircle } from '@tabler/icons-react';
import { useUrlState } from '../../../app/url-state.ts';
import type { Output } from '../../../api/client.ts';
import { useApi } from '../../../api/use-api.ts';
import { DataTable, type Column } from '../../../parts/data-table.tsx';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { countText } from '../../../parts/number-text.ts';
import { PageHeader } from '../../../parts/page-header.tsx';
import { Panel } from '../../../parts/panel.tsx';
import { Stat } from '../../../parts/stat.tsx';

type Problem = Output<'GET /operator/catalogue-check'>['problems'][number];

const kinds: readonly { readonly value: Problem['problem']; readonly label: string }[] = [
  { value: 'no-price', label: 'Without a price' },
  { value: 'no-route', label: 'Without a route' },
];

export function Page() {
  const check = useApi('GET /operator/catalogue-check', {});
  const [{ kind }, setState] = useUrlState(({ problem }) => ({
    kind: kinds.find(({ value }) => value === problem)?.value ?? null,
  }));
  const data = check.data;
  const count = (value: Problem['problem']) => data && countText(data.problems.filter(({ problem }) => problem === value).length);
  return (
    <>
      <PageHeader title="Catalogue" description="Models that cannot run, and why. The same as “tollgate models check” says." />
      <Stack>
        <SimpleGrid cols={{ base: 1, sm: 3 }}>
          <Stat
            label="Models that run"
            value={data && countText(data.live_models)}
            hint={data && `of ${countText(data.models)}`}
          />
          <Stat label="Without a price" value={count('no-price')} hint="They never run." />
          <Stat label="Without a route" value={count('no-route')} hint="None of their providers is switched on." />
        </SimpleGrid>
        {data && data.warnings.length > 0 && (
          <Alert color="accent" icon={<IconInfoCircle aria-hidden />} title="Good to know">
            <List size="sm">
              {data.warnings.map((warning) => (
                <List.Item key={warning}>{warning}</List.Item>
              ))}
            </List>
          </Alert>
        )}
        <Panel
          title="Problems"
          flush
          actions={
            <Select
              aria-label="Problem"
              placeholder="All problems"
              data={[...kinds]}
              value={kind}
              onChange={(value) => setState({ problem: value ?? undefined })}
              clearable
              w={180}
            />
          }
        >
          <DataTable
            label="Problems of the catalogue"
            rows={data?.problems.filter(({ problem }) => kind === null || problem === kind)}
            error={check.error}
            onRetry={() => void check.refetch()}
            columns={columns}
            rowKey={({ id, problem }) => `${id} ${problem}`}
            empty={<EmptyState icon={IconCircleCheck} title="Nothing to mend" text="Every model has a price and a live route." />}
          />
        </Panel>
      </Stack>
    </>
  );
}

const columns: readonly Column<Problem>[] = [
  {
    title: 'Model',
    phone: 'title',
    render: (row) => (
      <>
        <Text fw={500}>{row.name}</Text>
        <Text size="xs" c="dimmed" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
          {row.id}
        </Text>
      </>
    ),
  },
  { title: 'Type', render: (row) => (row.type === 'chat' ? 'Chat' : 'Images') },
  {
    title: 'Problem',
    render: (row) =>
      row.problem === 'no-price' ? <Badge color="orange">No price in effect</Badge> : <Badge color="gray">No live route</Badge>,
  },
  { title: 'Its providers', render: (row) => row.providers.join(', ') || '–' },
];
