// The gateway's configuration: the versions of what was saved, and every setting in force.
import { Group, SegmentedControl, SimpleGrid, Skeleton, Stack, Text } from '@mantine/core';
import { IconAdjustments } from '@tabler/icons-react';
import type { ServiceSettings } from '../../../../src/management/contract/service.ts';
import { useApi } from '../../../api/use-api.ts';
import { useUrlState } from '../../../parts/url-state.ts';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { countText } from '../../../parts/number-text.ts';
import { PageHeader } from '../../../parts/page-header.tsx';
import { Panel } from '../../../parts/panel.tsx';
import { QueryView } from '../../../parts/query-view.tsx';
import { SearchField } from '../../../parts/search-field.tsx';
import { Stat } from '../../../parts/stat.tsx';
import { WarningList } from '../../../parts/warning-list.tsx';
import { isChanged, sectionsOf, type Filter } from './sections.ts';
import { SectionList } from './section-list.tsx';
import { Versions } from './versions.tsx';

export function Page() {
  const settings = useApi('GET /operator/settings', {});
  return (
    <>
      <PageHeader
        title="Configuration"
        description="Providers, models and prices change on their pages. To change another setting, edit the file or environment and restart."
      />
      <Stack mb="md">
        <Versions />
      </Stack>
      <QueryView query={settings} skeleton={<Skeleton h={420} radius="lg" />}>
        {(data) => <Settings service={data} />}
      </QueryView>
    </>
  );
}

const filters: readonly { readonly value: Filter; readonly label: string }[] = [
  { value: 'all', label: 'All' },
  { value: 'set', label: 'Changed' },
  { value: 'secret', label: 'Secrets' },
];

function Settings({ service }: { readonly service: ServiceSettings }) {
  const [view, setView] = useUrlState(({ q = '', show }) => ({
    text: q,
    show: filters.find(({ value }) => value === show)?.value ?? 'all',
  }));
  const sections = sectionsOf(service.settings, view);
  return (
    <Stack>
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        <Stat label="Database" value={service.database === 'postgres' ? 'PostgreSQL' : 'SQLite'} />
        <Stat
          label="Data folder"
          value={
            <Text
              component="div"
              fz="md"
              lh="2rem"
              ff="monospace"
              truncate
              title={service.data_dir}
            >
              {service.data_dir}
            </Text>
          }
        />
        <Stat
          label="Changed"
          value={countText(service.settings.filter(isChanged).length)}
          hint={`of ${countText(service.settings.length)} settings; the rest have their defaults`}
        />
      </SimpleGrid>
      {service.warnings.length > 0 && (
        <WarningList title="The gateway started with warnings" warnings={service.warnings} />
      )}
      <Group gap="sm">
        <SearchField
          label="Search settings"
          value={view.text}
          onSearch={(q) => setView({ q })}
          style={{ flex: '1 1 220px' }}
          maw={360}
        />
        <SegmentedControl
          aria-label="Which settings"
          data={[...filters]}
          value={view.show}
          onChange={(show) => setView({ show: show === 'all' ? undefined : show })}
        />
      </Group>
      {sections.length === 0 ? (
        <Panel>
          <EmptyState
            icon={IconAdjustments}
            title="No matching settings"
            text="Shorten the search, or show all settings."
          />
        </Panel>
      ) : (
        // The key reopens all sections for each search.
        <SectionList
          key={`${view.show} ${view.text}`}
          sections={sections}
          isSearch={view.text !== '' || view.show !== 'all'}
        />
      )}
    </Stack>
  );
}
