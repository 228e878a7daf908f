// Tries models: as a chat in each of the three formats, for images, and those of other types.
import { Skeleton, Tabs } from '@mantine/core';
import { IconKey, IconMessages, IconPhoto, IconVector } from '@tabler/icons-react';
import type { ModelCatalogue } from '../../../src/management/contract/models.ts';
import { useApi } from '../../api/use-api.ts';
import { useIsAtLeast, useMode } from '../../api/account.ts';
import { useUrlState } from '../../parts/url-state.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import type { Key } from '../../parts/key-select.tsx';
import { ButtonLink } from '../../parts/link.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { Chat } from './chat/chat.tsx';
import { Images } from './images.tsx';
import { Others } from './others.tsx';
import { useChosenKey } from './use-chosen-key.ts';

export function Page() {
  return useIsAtLeast('member') ? <Playground /> : <NotForViewers />;
}

function NotForViewers() {
  return (
    <>
      <PageHeader title="Playground" />
      <EmptyState
        icon={IconMessages}
        title="Viewers cannot use the playground"
        text="Its requests are charged. An owner of the account can make you a member."
      />
    </>
  );
}

function Playground() {
  const catalogue = useApi('GET /accounts/:account/models', {});
  return (
    <>
      <PageHeader
        title="Playground"
        description="Requests run and are charged exactly like those of your programs."
      />
      <QueryView query={catalogue} skeleton={<Skeleton h={520} radius="lg" />}>
        {(data) => <PlaygroundWithKey catalogue={data} />}
      </QueryView>
    </>
  );
}

function PlaygroundWithKey({ catalogue }: { readonly catalogue: ModelCatalogue }) {
  const chosen = useChosenKey();
  return (
    <QueryView query={chosen.query} skeleton={<Skeleton h={520} radius="lg" />}>
      {() =>
        chosen.key ? (
          <PlaygroundTabs catalogue={catalogue} chosenKey={chosen.key} setKey={chosen.setKey} />
        ) : (
          <NoKey />
        )
      }
    </QueryView>
  );
}

type Props = {
  readonly catalogue: ModelCatalogue;
  readonly chosenKey: Key;
  readonly setKey: (key: Key | null) => void;
};

function PlaygroundTabs(props: Props) {
  const [tab, setView] = useUrlState(({ tab: asked }) =>
    asked === 'images' || asked === 'others' ? asked : 'chat',
  );
  return (
    <Tabs
      value={tab}
      onChange={(next) =>
        setView({
          tab: next === 'chat' ? undefined : (next ?? undefined),
          model: undefined,
          request: undefined,
        })
      }
    >
      <Tabs.List aria-label="Type of request" mb="md">
        <Tabs.Tab value="chat" leftSection={<IconMessages size={16} aria-hidden />}>
          Chat
        </Tabs.Tab>
        <Tabs.Tab value="images" leftSection={<IconPhoto size={16} aria-hidden />}>
          Images
        </Tabs.Tab>
        <Tabs.Tab value="others" leftSection={<IconVector size={16} aria-hidden />}>
          Other models
        </Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="chat">
        <Chat {...props} />
      </Tabs.Panel>
      <Tabs.Panel value="images">
        <Images {...props} />
      </Tabs.Panel>
      <Tabs.Panel value="others">
        <Others {...props} />
      </Tabs.Panel>
    </Tabs>
  );
}

function NoKey() {
  const mode = useMode();
  const canCreate = useIsAtLeast('admin');
  return (
    <EmptyState
      icon={IconKey}
      title={`You need a ${mode} key to try a model`}
      text={
        canCreate
          ? 'Playground requests use a key and count towards its caps.'
          : 'Ask an owner or admin of the account to create one.'
      }
      action={canCreate && <ButtonLink to="/keys">Create a key</ButtonLink>}
    />
  );
}
