// The key that the playground sends with: the address's where it is of this mode, else the account's newest.
import type { UseQueryResult } from '@tanstack/react-query';
import type { ApiError } from '../../api/api-error.ts';
import type { Output } from '../../api/client.ts';
import { useApi } from '../../api/use-api.ts';
import { useMode } from '../../app/account.ts';
import { useUrlState } from '../../app/url-state.ts';
import type { Key } from '../../parts/key-select.tsx';

type Keys = Output<'GET /accounts/:account/keys'>;

export type ChosenKey = {
  readonly query: UseQueryResult<Keys, ApiError>;
  /** null: there is none that could be used. */
  readonly key: Key | null;
  readonly setKey: (key: Key | null) => void;
};

export function useChosenKey(): ChosenKey {
  const mode = useMode();
  const [asked, setView] = useUrlState((search) => search.key ?? null);
  const newest = useApi('GET /accounts/:account/keys', { query: { mode, state: ['active'], limit: 1 } });
  const named = useApi('GET /accounts/:account/keys/:key', { params: { key: asked ?? '' } }, { enabled: asked !== null });
  const isUsable = asked !== null && named.data?.mode === mode && named.data.state === 'active';
  const key = isUsable ? named.data! : (newest.data?.data[0] ?? null);
  return { query: newest, key, setKey: (chosen) => setView({ key: chosen?.id }) };
}
