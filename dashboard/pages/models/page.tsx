// The catalogue of models, with the account's prices.
import { Alert, Badge, Group, Skeleton, Tabs, Text } from '@mantine/core';
import { IconCube } from '@tabler/icons-react';
import type { ModelCatalogue } from '../../../src/management/contract/models.ts';
import { useMode } from '../../api/account.ts';
import { useApi } from '../../api/use-api.ts';
import { useUrlState, type Search } from '../../parts/url-state.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { countText } from '../../parts/number-text.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { Panel } from '../../parts/panel.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { dayText } from '../../parts/time-text.ts';
import { ChatModels } from './chat-models.tsx';
import { CompareBar } from './compare-bar.tsx';
import { CompareDialog } from './compare-dialog.tsx';
import { comparedMax, comparedMin, toggleCompared } from './comparison.ts';
import { FilterBar } from './filter-bar.tsx';
import { ImageModels } from './image-models.tsx';
import type { Measurements } from './measured.ts';
import {
  abilities,
  chatModelMatches,
  inOrder,
  matches,
  orders,
  type Ability,
  type View,
} from './model-filters.ts';
import { ModelDrawer } from './model-drawer.tsx';
import { OtherModels } from './other-models.tsx';
import { WebSearchPanel } from './web-search-panel.tsx';

export function Page() {
  const catalogue = useApi('GET /accounts/:account/models', {});
  return (
    <>
      <PageHeader
        title="Models"
        description="All available models, at the prices this account pays."
      />
      <QueryView query={catalogue} skeleton={<Skeleton h={420} radius="lg" />}>
        {(data) => <Catalogue catalogue={data} />}
      </QueryView>
    </>
  );
}

function Catalogue({ catalogue }: { readonly catalogue: ModelCatalogue }) {
  const [view, setView] = useUrlState(readView);
  const measured = useMeasurements();
  const chat = inOrder(
    catalogue.chat.filter((model) => chatModelMatches(view, model)),
    view.order,
  );
  const images = catalogue.images.filter((model) => matches(view, model));
  const others = catalogue.others.filter((model) => matches(view, model));
  const all = [...catalogue.chat, ...catalogue.images, ...catalogue.others];
  const opened = all.find(({ id }) => id === view.open) ?? null;
  const open = (id: string) => setView({ open: id }, { push: true });
  const compared = view.compared.flatMap(
    (id) => catalogue.chat.find((each) => each.id === id) ?? [],
  );
  const setCompared = (ids: readonly string[]) => setView({ compare: ids.join(',') });
  const empty = (
    <EmptyState
      icon={IconCube}
      title="No matching models"
      text="Remove a filter or shorten the search."
    />
  );
  return (
    <>
      {view.open !== null && opened === null && (
        <Alert color="gray" mb="md">
          The model “{view.open}” is not sold here now.
        </Alert>
      )}
      <Tabs
        value={view.tab}
        onChange={(tab) => setView({ tab: tab === 'chat' ? undefined : (tab ?? undefined) })}
        keepMounted={false}
      >
        <Tabs.List aria-label="Model types" mb="md">
          <Tabs.Tab value="chat" rightSection={<Count shown={chat.length} />}>
            Language models
          </Tabs.Tab>
          <Tabs.Tab value="images" rightSection={<Count shown={images.length} />}>
            Image models
          </Tabs.Tab>
          <Tabs.Tab value="others" rightSection={<Count shown={others.length} />}>
            Other models
          </Tabs.Tab>
        </Tabs.List>
        <FilterBar catalogue={catalogue} view={view} setView={setView} />
        <Tabs.Panel value="chat">
          <Panel flush>
            <ChatModels
              models={chat}
              measured={measured}
              onOpen={open}
              compared={view.compared}
              onToggleCompared={(id) => setCompared(toggleCompared(view.compared, id))}
              empty={empty}
            />
          </Panel>
          <Text size="sm" c="dimmed" mt="xs">
            US dollars per million tokens, at the lowest price tier. Open a model to see all its
            prices. List prices are of {dayText(catalogue.as_of.chat)}, unless the operator has set
            others. Speed and uptime are of this account’s own requests in the last 30 days.
          </Text>
          <CompareBar
            count={compared.length}
            onCompare={() => setView({ comparing: 'yes' }, { push: true })}
            onClear={() => setCompared([])}
          />
        </Tabs.Panel>
        <Tabs.Panel value="images">
          <Panel flush>
            <ImageModels models={images} onOpen={open} empty={empty} />
          </Panel>
          <Text size="sm" c="dimmed" mt="xs">
            List prices are of {dayText(catalogue.as_of.images)}, unless the operator has set
            others.
          </Text>
        </Tabs.Panel>
        <Tabs.Panel value="others">
          <Panel flush>
            <OtherModels models={others} onOpen={open} empty={empty} />
          </Panel>
          <Text size="sm" c="dimmed" mt="xs">
            US dollars per million input tokens. List prices are of {dayText(catalogue.as_of.chat)},
            unless the operator has set others.
          </Text>
        </Tabs.Panel>
      </Tabs>
      <WebSearchPanel search={catalogue.web_search} />
      <ModelDrawer
        model={opened}
        measured={measured}
        onClose={() => setView({ open: undefined })}
      />
      <CompareDialog
        models={view.isComparing && compared.length >= comparedMin ? compared : null}
        measured={measured}
        onClose={() => setView({ comparing: undefined })}
      />
    </>
  );
}

/** Empty while they load, or when they cannot be read: the catalogue is useful without them. */
function useMeasurements(): Measurements {
  const { data } = useApi('GET /accounts/:account/models/measured', { query: { mode: useMode() } });
  return new Map(data?.data.map((model) => [model.id, model]));
}

function Count({ shown }: { readonly shown: number }) {
  return (
    <Group component="span" gap={0}>
      <Badge size="sm" color="gray" circle={shown < 10}>
        {countText(shown)}
      </Badge>
    </Group>
  );
}

function readView(search: Search): View {
  const requested = (search.ability ?? '').split(',');
  const max = Number(search.max);
  return {
    tab: search.tab === 'images' || search.tab === 'others' ? search.tab : 'chat',
    text: search.q ?? '',
    vendor: search.vendor ?? '',
    abilities: abilities.filter((ability): ability is Ability => requested.includes(ability)),
    inputMicrosMax: search.max !== undefined && max > 0 ? max * 1_000_000 : null,
    onlyLive: search.live === 'yes',
    order: orders.find((order) => order === search.order) ?? 'catalogue',
    open: search.open ?? null,
    compared: (search.compare ?? '').split(',').filter(Boolean).slice(0, comparedMax),
    isComparing: search.comparing === 'yes',
  };
}
