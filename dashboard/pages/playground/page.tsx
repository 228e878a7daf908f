// Tries models: as a chat in each of the three formats, and for images.
import { Skeleton, Tabs } from '@mantine/core';
import { IconKey, IconMessages, IconPhoto } from '@tabler/icons-react';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ModelCatalogue } from '../../../src/dashboard-contract/models.ts';
import type { ApiError } from '../../api/api-error.ts';
import type { Output } from '../../api/client.ts';
import { useApi } from '../../api/use-api.ts';
import { useIsAtLeast, useMode } from '../../api/account.ts';
import { useUrlState } from '../../parts/url-state.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import type { Key } from '../../parts/key-select.tsx';
import { ButtonLink } from '../../parts/link.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { Chat } from './chat.tsx';
import { Images } from './images.tsx';

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

type Keys = Output<'GET /accounts/:account/keys'>;

type ChosenKey = {
  readonly query: UseQueryResult<Keys, ApiError>;
  /** Null when no key can be used. */
  readonly key: Key | null;
  readonly setKey: (key: Key | null) => void;
};

/**
 * Returns the key in the address if it is active and of this mode, else the account's newest active
 * key.
 */
function useChosenKey(): ChosenKey {
  const mode = useMode();
  const [requestedId, setView] = useUrlState((search) => search.key ?? null);
  const newest = useApi('GET /accounts/:account/keys', {
    query: { mode, state: ['active'], limit: 1 },
  });
  const requested = useApi(
    'GET /accounts/:account/keys/:key',
    { params: { key: requestedId ?? '' } },
    { enabled: requestedId !== null },
  );
  const isUsable =
    requestedId !== null && requested.data?.mode === mode && requested.data.state === 'active';
  const key = isUsable ? requested.data! : (newest.data?.data[0] ?? null);
  return { query: newest, key, setKey: (chosen) => setView({ key: chosen?.id }) };
}

type Props = {
  readonly catalogue: ModelCatalogue;
  readonly chosenKey: Key;
  readonly setKey: (key: Key | null) => void;
};

function PlaygroundTabs(props: Props) {
  const [tab, setView] = useUrlState((search) => (search.tab === 'images' ? 'images' : 'chat'));
  return (
    <Tabs
      value={tab}
      onChange={(next) => setView({ tab: next === 'images' ? next : undefined, model: undefined })}
    >
      <Tabs.List aria-label="Type of request" mb="md">
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
