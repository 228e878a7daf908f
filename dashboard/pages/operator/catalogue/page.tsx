// Every model in the catalogue: those on sale with cost, price and margin, the others by what would
// bring them.
import {
  Accordion,
  Badge,
  Button,
  Group,
  SegmentedControl,
  Select,
  SimpleGrid,
  Skeleton,
  Stack,
  Text,
  Tooltip,
} from '@mantine/core';
import { IconBook2, IconPlus } from '@tabler/icons-react';
import type {
  CatalogueModel,
  CatalogueRoute,
} from '../../../../src/management/contract/service.ts';
import { useUrlState } from '../../../parts/url-state.ts';
import { CutText } from '../../../parts/cut-text.tsx';
import { DataTable, type Column } from '../../../parts/data-table.tsx';
import { EndBadge } from '../../../parts/end-badge.tsx';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { AppLink, ButtonLink } from '../../../parts/link.tsx';
import { unitPriceText } from '../../../parts/model-text.ts';
import { Money } from '../../../parts/money.tsx';
import { countedText, shortCountText } from '../../../parts/number-text.ts';
import { PageHeader } from '../../../parts/page-header.tsx';
import { Panel } from '../../../parts/panel.tsx';
import { SearchField } from '../../../parts/search-field.tsx';
import { WarningList } from '../../../parts/warning-list.tsx';
import { EntryForm } from '../saved/entry-form.tsx';
import { ModelDrawer } from '../saved/model-drawer.tsx';
import { PricePreview } from '../saved/price-preview.tsx';
import { imagePriceText, marginText } from '../saved/prices.ts';
import { textOf, type Section } from '../saved/schema.ts';
import { inForceBelow, savedAt, type Parts } from '../saved/use-saved.ts';
import { WithParts } from '../saved/with-parts.tsx';
import { groupsOf, modelMatches, views, type View } from './catalogue-filters.ts';

export function Page() {
  const [{ open, section, adding }, setState] = useUrlState(
    ({ model = null, section: of, add }) => ({
      open: model,
      section: of === 'image_models' ? ('image_models' as const) : ('models' as const),
      adding: add !== undefined,
    }),
  );
  const onOpen: OnOpen = (model, of) => setState({ model, section: of });
  return (
    <>
      <PageHeader
        title="Catalogue"
        description="Prices are in USD per million tokens, at the list price: accounts may have their own multiplier."
        actions={
          <Button
            leftSection={<IconPlus size={16} aria-hidden />}
            onClick={() => setState({ add: '1' }, { push: true })}
          >
            Add model
          </Button>
        }
      />
      <WithParts skeleton={<Skeleton h={420} radius="lg" />}>
        {(parts) => (
          <>
            <Models {...parts} onOpen={onOpen} />
            <ModelDrawer
              {...parts}
              name={open}
              section={section}
              onClose={() => setState({ model: undefined, section: undefined })}
            />
            <ModelDrawer
              {...parts}
              name={adding ? '' : null}
              isNew
              onClose={() => setState({ add: undefined })}
            />
          </>
        )}
      </WithParts>
    </>
  );
}

const nothingOnSale = {
  title: 'No model is on sale yet',
  text: 'Switch on a provider: the groups below have the models that each brings.',
};
const noMatch = {
  title: 'No matching models',
  text: 'Remove a filter or shorten the search. The groups below have the models that are not on sale.',
};

type OnOpen = (id: string, section?: Section) => void;

function isView(text: string | undefined): text is View {
  return text !== undefined && Object.hasOwn(views, text);
}

function Models({ onOpen, ...parts }: Parts & { readonly onOpen: OnOpen }) {
  const { catalogue, saved, settings } = parts;
  const [filters, setFilters] = useUrlState(({ q = '', show, provider = '' }) => ({
    text: q,
    view: isView(show) ? show : ('all' as const),
    provider,
  }));
  const groups = groupsOf(catalogue.data.filter((model) => modelMatches(model, filters)));
  const sellsNone = groupsOf(catalogue.data).live.length === 0;
  const providers = [
    ...new Set(catalogue.data.flatMap(({ routes }) => routes.map(({ provider }) => provider))),
  ].toSorted();
  const markup = inForceBelow(settings, ['pricing'])['markup'];
  const columns = columnsAt(markup);
  const table = (label: string, rows: readonly CatalogueModel[]) => (
    <DataTable
      label={label}
      rows={rows}
      columns={columns}
      rowKey={({ id }) => id}
      onOpen={({ id, type }) => onOpen(id, type === 'image' ? 'image_models' : undefined)}
      dense
      empty={<EmptyState icon={IconBook2} {...(sellsNone ? nothingOnSale : noMatch)} />}
    />
  );
  const others = [
    {
      id: 'price',
      title: `Give a price: ${countedText(groups.unpriced.length, 'model')}`,
      text: 'They have a provider and no price, so they never run. Open one to set it.',
      models: groups.unpriced,
    },
    ...groups.byProvider.map(([provider, models]) => ({
      id: `on-${provider}`,
      title: `Switch on ${provider}: ${countedText(models.length, 'model')}`,
      text: (
        <ButtonLink
          to="/operator/providers"
          search={(now) => ({ ...kept(now), provider })}
          size="xs"
        >
          Switch on {provider}
        </ButtonLink>
      ),
      models,
    })),
    {
      id: 'route',
      title: `Give a route: ${countedText(groups.routeless.length, 'model')}`,
      text: 'No provider of theirs is known. Open one to add a route.',
      models: groups.routeless,
    },
  ].filter(({ models }) => models.length > 0);
  const ended = (['models', 'image_models'] as const).flatMap((section) =>
    Object.keys(savedAt(saved, [section]) ?? {})
      .filter((id) => savedAt(saved, [section, id, 'ended']) === true)
      .map((id) => ({ id, section })),
  );
  return (
    <Stack>
      <Defaults {...parts} />
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
      {filters.view !== 'problems' && (
        <Panel title={`On sale: ${countedText(groups.live.length, 'model')}`} flush>
          {table('Models', groups.live)}
        </Panel>
      )}
      {filters.view !== 'live' && others.length > 0 && (
        <Accordion multiple variant="contained" radius="lg" order={2} keepMounted={false}>
          {others.map(({ id, title, text, models }) => (
            <Accordion.Item key={id} value={id}>
              <Accordion.Control>
                <Text span fw={600}>
                  {title}
                </Text>
              </Accordion.Control>
              <Accordion.Panel>
                <Stack gap="sm">
                  <Text component="div" size="sm" c="dimmed">
                    {text}
                  </Text>
                  {table(title, models)}
                </Stack>
              </Accordion.Panel>
            </Accordion.Item>
          ))}
        </Accordion>
      )}
      {ended.length > 0 && (
        <Panel
          title="Switched off"
          description="Models that are not sold. Open one to sell it again."
        >
          <Group gap="xs">
            {ended.map(({ id, section }) => (
              <Button key={id} variant="default" size="xs" onClick={() => onOpen(id, section)}>
                {id}
              </Button>
            ))}
          </Group>
        </Panel>
      )}
    </Stack>
  );
}

/** Settings for all models: the markup and the web search. */
function Defaults(parts: Parts) {
  const pricing = inForceBelow(parts.settings, ['pricing']);
  return (
    <Accordion variant="contained" radius="lg" order={2} keepMounted={false}>
      <Accordion.Item value="defaults">
        <Accordion.Control>
          <Text span fw={600}>
            Markup ×{textOf(pricing['markup'])}, web search
          </Text>
        </Accordion.Control>
        <Accordion.Panel>
          <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl" verticalSpacing="xl">
            <EntryForm
              {...parts}
              path={['pricing']}
              inForce={pricing}
              first={['markup']}
              submit="Save markup"
              note="changed the markup"
            >
              {(form) => (
                <>
                  <Text size="sm">
                    An account has its multiplier on{' '}
                    <AppLink to="/operator/accounts" underline="always">
                      its page
                    </AppLink>
                    .
                  </Text>
                  <PricePreview {...form} />
                </>
              )}
            </EntryForm>
            <EntryForm
              {...parts}
              path={['search']}
              inForce={inForceBelow(parts.settings, ['search'])}
              first={['price_usd', 'providers']}
              submit="Save web search"
              note="changed the web search"
            />
          </SimpleGrid>
        </Accordion.Panel>
      </Accordion.Item>
    </Accordion>
  );
}

/** The query parameters that every page keeps. */
function kept({ account, mode }: Readonly<Record<string, string | undefined>>) {
  return { account, mode };
}

function columnsAt(markup: unknown): readonly Column<CatalogueModel>[] {
  return [
    {
      title: 'Model',
      value: ({ name }) => name,
      phone: 'title',
      render: (model) => <Name model={model} />,
    },
    {
      title: 'Providers',
      value: ({ routes }) => routes.length,
      render: ({ routes }) => <Routes routes={routes} />,
    },
    {
      title: 'Cost, in / out',
      value: ({ cost }) => cost?.output_micros || cost?.input_micros,
      align: 'right',
      render: (model) =>
        model.type === 'image' ? (
          model.is_own_price ? (
            '–'
          ) : (
            imagePriceText(model, 1)
          )
        ) : (
          <InOut type={model.type} prices={model.cost} unitMicros={model.unit_cost_micros} />
        ),
    },
    {
      title: 'Price, in / out',
      value: ({ price }) => price?.output_micros || price?.input_micros,
      align: 'right',
      render: (model) =>
        model.type === 'image' ? (
          imagePriceText(model, markup)
        ) : (
          <InOut type={model.type} prices={model.price} unitMicros={model.unit_price_micros} />
        ),
    },
    {
      title: 'Margin',
      value: ({ price, cost }) => {
        const bucket = price?.output_micros ? 'output_micros' : 'input_micros';
        return price?.[bucket] && cost ? 1 - cost[bucket] / price[bucket] : null;
      },
      align: 'right',
      render: ({ price, cost, unit_price_micros: unitPrice, unit_cost_micros: unitCost }) => {
        if (unitPrice !== undefined) return marginText(unitPrice, unitCost);
        const input = marginText(price?.input_micros, cost?.input_micros);
        const output = marginText(price?.output_micros, cost?.output_micros);
        // Models that write nothing have no price of output.
        const isOne = input === output || price?.output_micros === 0;
        return isOne ? input : `${input} / ${output}`;
      },
    },
    {
      title: 'Context / output',
      value: ({ context_tokens: context }) => context,
      align: 'right',
      render: ({ context_tokens: context, max_output_tokens: output }) =>
        context === null || output === null
          ? '–'
          : `${shortCountText(context)} / ${shortCountText(output)}`,
    },
  ];
}

function InOut({
  type,
  prices,
  unitMicros,
}: {
  readonly type: CatalogueModel['type'];
  readonly prices: CatalogueModel['price'];
  readonly unitMicros: number | undefined;
}) {
  if (!prices) return '–';
  if (unitMicros !== undefined) return unitPriceText(type, unitMicros);
  return (
    <Text span inherit style={{ whiteSpace: 'nowrap' }}>
      <Money micros={prices.input_micros} /> / <Money micros={prices.output_micros} />
    </Text>
  );
}

function Name({ model }: { readonly model: CatalogueModel }) {
  const { id, name, type, is_own_price: isOwn } = model;
  return (
    <>
      <Group gap={6}>
        <CutText fw={500} text={name} />
        {type !== 'chat' && (
          <Badge size="sm" color="gray" tt="capitalize">
            {type}
          </Badge>
        )}
        {isOwn && <Badge size="sm">Own price</Badge>}
        <EndBadge model={model} />
      </Group>
      <CutText block size="sm" c="dimmed" ff="monospace" text={id} />
    </>
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
