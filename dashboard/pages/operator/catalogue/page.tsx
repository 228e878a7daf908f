// Every model in the catalogue, its providers, and what keeps it from running.
import {
  Badge,
  Group,
  SegmentedControl,
  Select,
  SimpleGrid,
  Skeleton,
  Stack,
  Text,
  Tooltip,
} from '@mantine/core';
import { IconBook2, IconCheck } from '@tabler/icons-react';
import type {
  Catalogue,
  CatalogueModel,
  CatalogueRoute,
} from '../../../../src/management/contract/service.ts';
import { useApi } from '../../../api/use-api.ts';
import { useUrlState } from '../../../parts/url-state.ts';
import { DataTable, type Column } from '../../../parts/data-table.tsx';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { countText } from '../../../parts/number-text.ts';
import { PageHeader } from '../../../parts/page-header.tsx';
import { Panel } from '../../../parts/panel.tsx';
import { QueryView } from '../../../parts/query-view.tsx';
import { SearchField } from '../../../parts/search-field.tsx';
import { Stat } from '../../../parts/stat.tsx';
import { WarningList } from '../../../parts/warning-list.tsx';
import { mostUrgentFirst, modelMatches, remedyOf, views, type View } from './catalogue-filters.ts';

export function Page() {
  const catalogue = useApi('GET /operator/catalogue', {});
  return (
    <>
      <PageHeader
        title="Catalogue"
        description="Models without a price or provider come first, with the change that each one needs."
      />
      <QueryView query={catalogue} skeleton={<Skeleton h={420} radius="lg" />}>
        {(data) => <Models catalogue={data} />}
      </QueryView>
    </>
  );
}

function isView(text: string | undefined): text is View {
  return text !== undefined && Object.hasOwn(views, text);
}

function Models({ catalogue }: { readonly catalogue: Catalogue }) {
  const [filters, setFilters] = useUrlState(({ q = '', show, provider = '' }) => ({
    text: q,
    view: isView(show) ? show : ('all' as const),
    provider,
  }));
  const shown = mostUrgentFirst(catalogue.data.filter((model) => modelMatches(model, filters)));
  const providers = [
    ...new Set(catalogue.data.flatMap(({ routes }) => routes.map(({ provider }) => provider))),
  ].toSorted();
  return (
    <Stack>
      <Counts models={catalogue.data} />
      {catalogue.warnings.length > 0 && (
        <WarningList title="Warnings about models" warnings={catalogue.warnings} />
      )}
      <Group gap="sm">
        <SearchField
          label="Search models"
          value={filters.text}
          onSearch={(q) => setFilters({ q })}
          style={{ flex: '1 1 220px' }}
          maw={360}
        />
        <Select
          aria-label="Provider"
          placeholder="All providers"
          data={providers}
          value={filters.provider || null}
          onChange={(provider) => setFilters({ provider: provider ?? undefined })}
          searchable
          clearable
          w={190}
        />
        <SegmentedControl
          aria-label="Which models"
          data={Object.entries(views).map(([value, label]) => ({ value, label }))}
          value={filters.view}
          onChange={(view) => setFilters({ show: view === 'all' ? undefined : view })}
        />
      </Group>
      <Panel flush>
        <DataTable
          label="Models"
          rows={shown}
          columns={columns}
          rowKey={({ id }) => id}
          empty={
            filters.view === 'problems' && filters.text === '' && filters.provider === '' ? (
              <EmptyState
                icon={IconCheck}
                title="Nothing needs attention"
                text="Every model has a price and a live route."
              />
            ) : (
              <EmptyState
                icon={IconBook2}
                title="No matching models"
                text="Remove a filter or shorten the search."
              />
            )
          }
        />
      </Panel>
    </Stack>
  );
}

function Counts({ models }: { readonly models: readonly CatalogueModel[] }) {
  const countOf = (matches: (model: CatalogueModel) => boolean) =>
    countText(models.filter(matches).length);
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }}>
      <Stat label="Models" value={countText(models.length)} />
      <Stat label="Live" value={countOf(({ problems }) => problems.length === 0)} />
      <Stat
        label="Without a price"
        value={countOf(({ problems }) => problems.includes('no-price'))}
      />
      <Stat
        label="Without a provider"
        value={countOf(({ problems }) => problems.includes('no-route'))}
      />
    </SimpleGrid>
  );
}

const columns: readonly Column<CatalogueModel>[] = [
  {
    title: 'Model',
    value: ({ name }) => name,
    phone: 'title',
    render: (model) => <Name model={model} />,
  },
  {
    title: 'State',
    value: ({ problems }) => problems.join(),
    render: (model) => <State model={model} />,
  },
  {
    title: 'Providers',
    value: ({ routes }) => routes.length,
    render: ({ routes }) => <Routes routes={routes} />,
  },
  { title: 'How to fix', render: (model) => <Remedies model={model} /> },
];

function Name({ model: { id, name, type } }: { readonly model: CatalogueModel }) {
  return (
    <>
      <Group gap={6}>
        <Text span inherit fw={500}>
          {name}
        </Text>
        {type === 'image' && (
          <Badge size="sm" color="gray">
            Image
          </Badge>
        )}
      </Group>
      <Text size="sm" c="dimmed" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
        {id}
      </Text>
    </>
  );
}

const problemBadges = {
  'no-price': { color: 'red', label: 'No price' },
  'no-route': { color: 'orange', label: 'No provider' },
} as const;

function State({ model: { problems } }: { readonly model: CatalogueModel }) {
  return (
    <Group gap={4} component="span" display="inline-flex">
      {problems.length === 0 && (
        <Badge component="span" color="green">
          Live
        </Badge>
      )}
      {problems.map((problem) => (
        <Badge component="span" key={problem} color={problemBadges[problem].color}>
          {problemBadges[problem].label}
        </Badge>
      ))}
    </Group>
  );
}

function Routes({ routes }: { readonly routes: readonly CatalogueRoute[] }) {
  if (routes.length === 0) return <Text c="dimmed">–</Text>;
  return (
    <Group gap={4} component="span" display="inline-flex">
      {routes.map(({ provider, models, is_on: isOn }, index) => (
        <Tooltip
          key={index}
          label={`${isOn ? 'On' : 'Off'}: ${models.join(', ')}`}
          multiline
          maw={320}
        >
          <Badge
            component="span"
            color={isOn ? 'green' : 'gray'}
            variant={isOn ? 'light' : 'outline'}
            tt="none"
          >
            {provider}
            {!isOn && ' (off)'}
          </Badge>
        </Tooltip>
      ))}
    </Group>
  );
}

function Remedies({ model }: { readonly model: CatalogueModel }) {
  if (model.problems.length === 0) return <Text c="dimmed">–</Text>;
  return model.problems.map((problem) => (
    <Text key={problem} component="span" display="block" size="sm">
      {remedyOf(model, problem)}
    </Text>
  ));
}
