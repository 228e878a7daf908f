// Models tried by hand: as a chat in each of the three formats, and as pictures.
import { Skeleton, Tabs } from '@mantine/core';
import { IconKey, IconMessages, IconPhoto } from '@tabler/icons-react';
import type { ModelCatalogue } from '../../../src/dashboard-contract/models.ts';
import { useApi } from '../../api/use-api.ts';
import { useIsAtLeast, useMode } from '../../app/account.ts';
import { useUrlState } from '../../app/url-state.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import type { Key } from '../../parts/key-select.tsx';
import { ButtonLink } from '../../parts/link.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { Chat } from './chat.tsx';
import { Images } from './images.tsx';
import { useChosenKey } from './use-chosen-key.ts';

export function Page() {
  const catalogue = useApi('GET /accounts/:account/models', {});
  return (
    <>
      <PageHeader title="Playground" description="Requests run and are charged exactly as your programs’ are." />
      <QueryView query={catalogue} skeleton={<Skeleton h={520} radius="lg" />}>
        {(data) => <Ready catalogue={data} />}
      </QueryView>
    </>
  );
}

function Ready({ catalogue }: { readonly catalogue: ModelCatalogue }) {
  const chosen = useChosenKey();
  return (
    <QueryView query={chosen.query} skeleton={<Skeleton h={520} radius="lg" />}>
      {() => (chosen.key ? <Kinds catalogue={catalogue} chosenKey={chosen.key} setKey={chosen.setKey} /> : <NoKey />)}
    </QueryView>
  );
}

type Props = {
  readonly catalogue: ModelCatalogue;
  readonly chosenKey: Key;
  readonly setKey: (key: Key | null) => void;
};

function Kinds(props: Props) {
  const [tab, setView] = useUrlState((search) => (search.tab === 'images' ? 'images' : 'chat'));
  return (
    <Tabs value={tab} onChange={(next) => setView({ tab: next === 'images' ? next : undefined, model: undefined })}>
      <Tabs.List aria-label="What to try" mb="md">
        <Tabs.Tab value="chat" leftSection={<IconMessages size={16} aria-hidden />}>
          Chat
        </Tabs.Tab>
        <Tabs.Tab value="images" leftSection={<IconPhoto size={16} aria-hidden />}>
          Images
        </Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="chat">
        <Chat {...props} />
      </Tabs.Panel>
      <Tabs.Panel value="images">
        <Images {...props} />
      </Tabs.Panel>
    </Tabs>
  );
}

function NoKey() {
  const mode = useMode();
  const mayCreate = useIsAtLeast('admin');
  return (
    <EmptyState
      icon={IconKey}
      title={`There is no ${mode} key to try a model with`}
      text={
        mayCreate ? 'Requests of the playground count against a key and its caps.' : 'Ask an admin of the account to create one.'
      }
      action={mayCreate && <ButtonLink to="/keys">Create a key</ButtonLink>}
    />
  );
}
