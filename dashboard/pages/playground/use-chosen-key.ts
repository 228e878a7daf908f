import type { UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';
import { useAccount, useMode } from '../../api/account.ts';
import type { ApiError } from '../../api/api-error.ts';
import { useUser } from '../../api/session.ts';
import { useApi } from '../../api/use-api.ts';
import type { Key } from '../../parts/key-select.tsx';
import { useUrlState } from '../../parts/url-state.ts';
import { readLastKey } from './last-key.ts';

export type ChosenKey = {
  /** Pending until it is known which key is chosen. */
  readonly query: UseQueryResult<unknown, ApiError>;
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
  // A message that is sent right after the choice must not be charged to another key.
  const [picked, setPicked] = useState<Key | null>(null);
  const wantedId = requestedId ?? readLastKey(scope);
  const lastUsed = useApi('GET /accounts/:account/key-last-used', { query: { mode } });
  const loaded = useApi(
    'GET /accounts/:account/keys/:key',
    { params: { key: wantedId ?? '' } },
    { enabled: wantedId !== null },
  );
  const wanted = loaded.data ?? (picked?.id === wantedId ? picked : undefined);
  const isKnown = wantedId === null || wanted !== undefined || loaded.error !== null;
  const isUsable = wanted?.mode === mode && wanted.state === 'active';
  return {
    query: isKnown ? lastUsed : loaded,
    key: isUsable ? wanted : (lastUsed.data?.key ?? null),
    setKey: (chosen) => {
      setPicked(chosen);
      setView({ key: chosen?.id });
    },
  };
}
