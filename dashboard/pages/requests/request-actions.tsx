// The buttons of the request drawer: previous and next request, playground, and curl.
import { ActionIcon, Group } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { IconChevronDown, IconChevronUp, IconMessages } from '@tabler/icons-react';
import type { RequestDetail } from '../../../src/management/contract/requests.ts';
import { useAccountInSight } from '../../api/account-in-sight.ts';
import { useIsAtLeast } from '../../api/account.ts';
import { useSession } from '../../api/session.ts';
import { useApi } from '../../api/use-api.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { ButtonLink } from '../../parts/link.tsx';
import { showSuccess } from '../../parts/notify.ts';
import { canRepeat, curlOf } from './curl-of.ts';
import { isChatFormat } from './request-filters.ts';

/** The requests before and after the shown one in the list; null: there is none. */
export type Neighbours = { readonly previous: string | null; readonly next: string | null };

type NeighbourProps = {
  readonly neighbours: Neighbours;
  readonly onShow: (requestId: string) => void;
};

export function NeighbourButtons({ neighbours: { previous, next }, onShow }: NeighbourProps) {
  const show = (id: string | null) => {
    if (id !== null) onShow(id);
  };
  useHotkeys([
    ['j', () => show(next)],
    ['k', () => show(previous)],
  ]);
  const buttons = [
    { label: 'Previous request', letter: 'K', id: previous, Icon: IconChevronUp },
    { label: 'Next request', letter: 'J', id: next, Icon: IconChevronDown },
  ];
  return (
    <Group gap={4} wrap="nowrap">
      {buttons.map(({ label, letter, id, Icon }) => (
        <ActionIcon
          key={label}
          variant="default"
          aria-label={label}
          title={`${label} (${letter})`}
          disabled={id === null}
          onClick={() => show(id)}
        >
          <Icon size={16} aria-hidden />
        </ActionIcon>
      ))}
    </Group>
  );
}

export function RepeatButtons({ detail }: { readonly detail: RequestDetail }) {
  const { request_id: request, key, endpoint, model, mode } = detail;
  const { public_url: baseUrl } = useSession().features;
  const isAdmin = useIsAtLeast('admin');
  const mayRead = useAccountInSight() !== null || isAdmin;
  const canTry = useIsAtLeast('member') && isChatFormat(endpoint);
  // Asked for when needed: an operator's look at a body is recorded.
  const bodies = useApi(
    'GET /accounts/:account/requests/:request/bodies',
    { params: { request } },
    { enabled: false },
  );
  const writeCurl = async () => {
    const read = mayRead && !bodies.data ? await bodies.refetch({ throwOnError: true }) : bodies;
    const { command, isOwn } = curlOf(detail, read.data?.kept?.request ?? null, baseUrl);
    if (!isOwn)
      showSuccess('Copied with an example body: there is no whole JSON body that you may read.');
    return command;
  };
  if (!canRepeat(detail)) return null;
  return (
    <Group gap="xs">
      {canTry && (
        <ButtonLink
          to="/playground"
          search={({ account }) => ({
            account,
            mode: mode === 'test' ? mode : undefined,
            key: key.id,
            model: model?.id,
            request,
            format: endpoint,
          })}
          variant="default"
          size="xs"
          leftSection={<IconMessages size={16} aria-hidden />}
        >
          Open in playground
        </ButtonLink>
      )}
      <CopyButton text={writeCurl} label="Copy as curl" size="xs" wide />
    </Group>
  );
}
