import type { UseQueryResult } from '@tanstack/react-query';
import { useAccount, useMode } from '../../api/account.ts';
import type { ApiError } from '../../api/api-error.ts';
import type { Output } from '../../api/client.ts';
import { useUser } from '../../api/session.ts';
import { useApi } from '../../api/use-api.ts';
import type { Key } from '../../parts/key-select.tsx';
import { useUrlState } from '../../parts/url-state.ts';
import { readLastKey } from './last-key.ts';

export type ChosenKey = {
  readonly query: UseQueryResult<Output<'GET /accounts/:account/key-last-used'>, ApiError>;
  /** Null when no key can be used. */
  readonly key: Key | null;
  readonly setKey: (key: Key | null) => void;
};

/** Names what the browser keeps: it belongs to a user, an account and a mode. */
export function useScope(): string {
  return `${useUser().id}.${useAccount().id}.${useMode()}`;
}

/**
 * Returns the first of these that is active and of this mode: the key in the address, the one used
 * last in this browser, the account's key used last.
 */
export function useChosenKey(): ChosenKey {
  const mode = useMode();
  const scope = useScope();
  const [requestedId, setView] = useUrlState((search) => search.key ?? null);
  const wantedId = requestedId ?? readLastKey(scope);
  const lastUsed = useApi('GET /accounts/:account/key-last-used', { query: { mode } });
  const wanted = useApi(
    'GET /accounts/:account/keys/:key',
    { params: { key: wantedId ?? '' } },
    { enabled: wantedId !== null },
  );
  const isUsable =
    wantedId !== null && wanted.data?.mode === mode && wanted.data.state === 'active';
  const key = isUsable ? wanted.data! : (lastUsed.data?.key ?? null);
  return { query: lastUsed, key, setKey: (chosen) => setView({ key: chosen?.id }) };
}
