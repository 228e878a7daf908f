// What the gateway and the documentation have for the typed text.
import {
  IconActivity,
  IconBuildingBank,
  IconCube,
  IconFileText,
  IconKey,
  IconUser,
} from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useChosenAccount, type Mode } from '../api/account.ts';
import type { Output } from '../api/client.ts';
import { useUser } from '../api/session.ts';
import { useApi } from '../api/use-api.ts';
import { searchTextOf } from '../parts/key-search.ts';
import { dateTimeText } from '../parts/time-text.ts';
import { searchDocs } from './docs-search.ts';
import type { Group } from './palette-entries.ts';

const charactersMin = 2;
const charactersMax = 100;

type Found = { readonly groups: readonly Group[]; readonly isLoading: boolean };

/** Of a pasted key only the last characters are sent, so that no secret leaves the page. */
export function useFound(typed: string): Found {
  const text = searchTextOf(typed).slice(0, charactersMax);
  const isLong = text.length >= charactersMin;
  const account = useChosenAccount();
  const { is_operator: isOperator } = useUser();
  const query = { q: text };
  const own = useApi(
    'GET /accounts/:account/search',
    { query },
    { enabled: isLong && account !== null },
  );
  const all = useApi('GET /operator/search', { query }, { enabled: isLong && isOperator });
  const docs = useQuery({
    queryKey: ['docs', text],
    queryFn: () => searchDocs(text),
    enabled: isLong,
  });
  const ownGroups = useOwnGroups(own.data);
  const operatorGroups = useOperatorGroups(all.data);
  if (!isLong) return { groups: [], isLoading: false };
  const docsGroup: Group = {
    group: 'Documentation',
    entries: (docs.data ?? []).map(({ address, page, heading }) => ({
      id: `docs ${address}`,
      label: heading === '' ? page : heading,
      description: heading === '' ? 'Documentation' : page,
      icon: IconFileText,
      run: () => location.assign(address),
    })),
  };
  return {
    groups: [...ownGroups, ...operatorGroups, docsGroup],
    isLoading: own.isLoading || all.isLoading || docs.isLoading,
  };
}

function useOwnGroups(
  found: Output<'GET /accounts/:account/search'> | undefined,
): readonly Group[] {
  const navigate = useNavigate();
  const { requests = [], keys = [], models = [] } = found ?? {};
  const modeOf = (mode: Mode) => (mode === 'test' ? mode : undefined);
  return [
    {
      group: 'Requests',
      entries: requests.map(({ id, mode, outcome, created_at: at }) => ({
        id,
        label: id,
        description: `${outcome}, ${dateTimeText(new Date(at))}`,
        icon: IconActivity,
        run: () =>
          void navigate({
            to: '/requests',
            search: ({ account }) => ({ account, mode: modeOf(mode), request: id }),
          }),
      })),
    },
    {
      group: 'Keys',
      entries: keys.map(({ id, name, hint, mode, state }) => ({
        id,
        label: name || 'Unnamed',
        description: `${hint}, ${mode}${state === 'active' ? '' : `, ${state}`}`,
        icon: IconKey,
        run: () =>
          void navigate({
            to: '/keys',
            search: ({ account }) => ({ account, mode: modeOf(mode), key: id }),
          }),
      })),
    },
    {
      group: 'Models',
      entries: models.map(({ id, name }) => ({
        id: `model ${id}`,
        label: id,
        description: name,
        icon: IconCube,
        run: () => void navigate({ to: '/models', search: (before) => ({ ...before, open: id }) }),
      })),
    },
  ];
}

function useOperatorGroups(found: Output<'GET /operator/search'> | undefined): readonly Group[] {
  const navigate = useNavigate();
  const { requests = [], accounts = [], users = [] } = found ?? {};
  const own = useChosenAccount()?.id;
  return [
    {
      group: 'Requests of other accounts',
      entries: requests
        .filter(({ account }) => account.id !== own)
        .map(({ id, mode, outcome, created_at: at, account }) => ({
          id,
          label: id,
          description: `${account.name}, ${outcome}, ${dateTimeText(new Date(at))}`,
          icon: IconActivity,
          run: () =>
            void navigate({
              to: '/operator/accounts/$accountId',
              params: { accountId: account.id },
              search: {
                tab: 'requests',
                ledger: mode === 'test' ? mode : undefined,
                request: id,
              },
            }),
        })),
    },
    {
      group: 'Accounts',
      entries: accounts.map(({ id, name }) => ({
        id,
        label: name || id,
        description: id,
        icon: IconBuildingBank,
        run: () =>
          void navigate({ to: '/operator/accounts/$accountId', params: { accountId: id } }),
      })),
    },
    {
      group: 'Users',
      entries: users.map(({ id, name, email }) => ({
        id,
        label: name || email,
        description: email,
        icon: IconUser,
        run: () => void navigate({ to: '/operator/users', search: { q: email } }),
      })),
    },
  ];
}
