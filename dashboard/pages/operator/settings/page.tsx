// What the configuration says: for reading only, because it is a file and the environment of the gateway.
import { Group, SegmentedControl, SimpleGrid, Skeleton, Stack, Text } from '@mantine/core';
import { IconAdjustments } from '@tabler/icons-react';
import type { ServiceSettings } from '../../../../src/dashboard-contract/operator-service.ts';
import { useApi } from '../../../api/use-api.ts';
import { useUrlState } from '../../../app/url-state.ts';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { countText } from '../../../parts/number-text.ts';
import { PageHeader } from '../../../parts/page-header.tsx';
import { Panel } from '../../../parts/panel.tsx';
import { QueryView } from '../../../parts/query-view.tsx';
import { SearchField } from '../../../parts/search-field.tsx';
import { Stat } from '../../../parts/stat.tsx';
import { WarningList } from '../../../parts/warning-list.tsx';
import { isChanged, sectionsOf, type Show } from './sections.ts';
import { SectionList } from './section-list.tsx';

export function Page() {
  const settings = useApi('GET /operator/settings', {});
  return (
    <>
      <PageHeader
        title="Configuration"
        description="As this gateway runs. To change it, change its file or environment and start it again."
      />
      <QueryView query={settings} skeleton={<Skeleton h={420} radius="lg" />}>
        {(data) => <Settings service={data} />}
      </QueryView>
    </>
  );
}

const shows: readonly { readonly value: Show; readonly label: string }[] = [
  { value: 'all', label: 'All' },
  { value: 'set', label: 'Set here' },
  { value: 'secret', label: 'Secrets' },
];

function Settings({ service }: { readonly service: ServiceSettings }) {
  const [view, setView] = useUrlState(({ q = '', show }) => ({
    text: q,
    show: shows.find(({ value }) => value === show)?.value ?? 'all',
  }));
  const sections = sectionsOf(service.settings, view);
  return (
    <Stack>
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        <Stat label="Database" value={service.database === 'postgres' ? 'PostgreSQL' : 'SQLite'} />
        <Stat
          label="Data folder"
          value={
            <Text component="div" fz="md" lh="2rem" ff="monospace" truncate title={service.data_dir}>
              {service.data_dir}
            </Text>
          }
        />
        <Stat
          label="Set here"
          value={countText(service.settings.filter(isChanged).length)}
          hint={`of ${countText(service.settings.length)} settings; the rest are as they come`}
        />
      </SimpleGrid>
      {service.warnings.length > 0 && <WarningList title="The gateway started with warnings" warnings={service.warnings} />}
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
          data={[...shows]}
          value={view.show}
          onChange={(show) => setView({ show: show === 'all' ? undefined : show })}
        />
      </Group>
      {sections.length === 0 ? (
        <Panel>
          <EmptyState icon={IconAdjustments} title="No setting fits" text="Search for less, or look at all settings." />
        </Panel>
      ) : (
        // Anew for each search, so that whatever fits is seen.
        <SectionList key={`${view.show} ${view.text}`} sections={sections} isSearch={view.text !== '' || view.show !== 'all'} />
      )}
    </Stack>
  );
}
