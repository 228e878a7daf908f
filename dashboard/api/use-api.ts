// The contract as React hooks. `:account` in a path defaults to the chosen account.
import {
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
  type UseMutationResult,
  type UseQueryResult,
} from '@tanstack/react-query';
import { useAccountId } from './account.ts';
import { useAccountInSight } from './account-in-sight.ts';
import type { ApiError } from './api-error.ts';
import { confirmedCall } from './confirmed-call.ts';
import {
  api,
  type ChangeKey,
  type EndpointKey,
  type Input,
  type Output,
  type ReadKey,
} from './client.ts';

type Params = Readonly<Record<string, string>>;

/** Input of a call, without the account, which the hook fills in. */
type HookInput<Key extends EndpointKey> = Omit<Input<Key>, 'params' | 'body'> & {
  readonly params?: Partial<Params>;
};

type ReadOptions = {
  /** False delays the request. */
  readonly enabled?: boolean;
  /** Interval between requests while the page is visible. */
  readonly refetchMs?: number;
  /** Keeps the previous data on screen while new filters load (`isPlaceholderData`). */
  readonly keepPrevious?: boolean;
};

/** `const keys = useApi('GET /accounts/:account/keys', { query: { mode } });` */
export function useApi<Key extends ReadKey>(
  key: Key,
  input: HookInput<Key>,
  { enabled = true, refetchMs, keepPrevious = false }: ReadOptions = {},
): UseQueryResult<Output<Key>, ApiError> {
  const filled = useFilled(key, input);
  const name = useDoor(key);
  return useQuery<Output<Key>, ApiError>({
    queryKey: [name, filled],
    queryFn: ({ signal }) => api(name, filled as Input<Key>, signal),
    enabled,
    refetchInterval: refetchMs ?? false,
    placeholderData: keepPrevious ? keepPreviousData : undefined,
  });
}

type RowOf<Value> = Value extends { readonly data: readonly (infer Row)[] } ? Row : never;

export type Pages<Row> = {
  /** Rows of all loaded pages; undefined while the first page loads. */
  readonly rows: readonly Row[] | undefined;
  readonly error: ApiError | null;
  readonly hasMore: boolean;
  /** The time back to which a search has looked that is not over; null: pages are full. */
  readonly searchedTo: string | null;
  readonly isLoadingMore: boolean;
  readonly loadMore: () => void;
  readonly retry: () => void;
  /** The rows belong to the previous filters. Show them dimmed. */
  readonly isStale: boolean;
};

/** Loads a list page by page (`{ data, next_cursor }`), for the `pages` of a `DataTable`. */
export function useApiPages<Key extends ReadKey>(
  key: Key,
  input: HookInput<Key>,
  /** Interval between requests of the loaded pages; null: none. */
  refetchMs: number | null = null,
): Pages<RowOf<Output<Key>>> {
  type Row = RowOf<Output<Key>>;
  type PageOf = { readonly data: readonly Row[]; readonly next_cursor: string | null };
  const filled = useFilled(key, input);
  const name = useDoor(key);
  const pages = useInfiniteQuery<PageOf, ApiError, Loaded<Row>, unknown[], string | null>({
    queryKey: [name, filled, 'pages'],
    queryFn: async ({ pageParam, signal }) => {
      const query = { ...filled.query, ...(pageParam === null ? {} : { cursor: pageParam }) };
      return (await api(
        name,
        { ...filled, query } as unknown as Input<Key>,
        signal,
      )) as unknown as PageOf;
    },
    initialPageParam: null,
    getNextPageParam: (last) => last.next_cursor,
    select: ({ pages: all }) => ({
      rows: all.flatMap(({ data }) => data),
      searchedTo: searchedToOf(all.at(-1)),
    }),
    placeholderData: keepPreviousData,
    refetchInterval: refetchMs ?? false,
  });
  return {
    rows: pages.data?.rows,
    error: pages.error,
    hasMore: pages.hasNextPage,
    searchedTo: pages.data?.searchedTo ?? null,
    isLoadingMore: pages.isFetchingNextPage,
    loadMore: () => void pages.fetchNextPage(),
    retry: () => void pages.refetch(),
    isStale: pages.isPlaceholderData,
  };
}

type Loaded<Row> = { readonly rows: readonly Row[]; readonly searchedTo: string | null };

/** Rows of a page that is full: the server's default. */
const pageRows = 50;

/** Returns the time in the cursor of a page that is not full, though it is not the last. */
function searchedToOf(
  last: { readonly data: readonly unknown[]; readonly next_cursor: string | null } | undefined,
): string | null {
  if (!last?.next_cursor || last.data.length >= pageRows) return null;
  return last.next_cursor.split('|')[0]!;
}

type ChangeOptions<Key extends ChangeKey> = {
  /** Endpoints to reload after the change, with all their pages and filters. */
  readonly invalidates?: readonly ReadKey[];
  readonly onSuccess?: (output: Output<Key>) => void;
};

type ChangeInput<Key extends ChangeKey> = HookInput<Key> &
  Pick<Input<Key>, Extract<'body', keyof Input<Key>>>;

/**
 * `const create = useChange('POST /accounts/:account/keys', { invalidates: ['GET /accounts/:account/keys'] });`
 * `create.mutate({ body })`, or `await create.mutateAsync({ body })`, which throws ApiError.
 */
export function useChange<Key extends ChangeKey>(
  key: Key,
  { invalidates = [], onSuccess }: ChangeOptions<Key> = {},
): UseMutationResult<Output<Key>, ApiError, ChangeInput<Key>> {
  const client = useQueryClient();
  const account = useAccountId();
  return useMutation<Output<Key>, ApiError, ChangeInput<Key>>({
    mutationFn: (input) =>
      confirmedCall(key, fillAccount(key, input as AnyHookInput, account) as unknown as Input<Key>),
    onSuccess: async (output) => {
      onSuccess?.(output);
      await Promise.all(invalidates.map((name) => client.invalidateQueries({ queryKey: [name] })));
    },
  });
}

type AnyHookInput = {
  readonly params?: Partial<Params>;
  readonly query?: Readonly<Record<string, unknown>>;
};

/** Returns the name of the call that reads the same of a customer's account, for operators. */
function useDoor<Key extends ReadKey>(key: Key): Key {
  const isInSight = useAccountInSight() !== null && key.startsWith('GET /accounts/:account/');
  return isInSight ? (key.replace(' ', ' /operator') as Key) : key;
}

function useFilled(key: string, input: object) {
  return fillAccount(key, input, useAccountId());
}

function fillAccount(key: string, input: AnyHookInput, account: string | null) {
  const needsAccount = key.includes('/:account') && account !== null;
  return { ...input, params: { ...(needsAccount ? { account } : {}), ...input.params } };
}
