// Select field for one of the account's keys, with search on the server.
import { Select, Text, type SelectProps } from '@mantine/core';
import type { Output } from '../api/client.ts';
import { useApi } from '../api/use-api.ts';
import type { Mode } from '../api/account.ts';
import { useTypedSearch } from './typed-search.ts';

export type Key = Output<'GET /accounts/:account/keys'>['data'][number];

type Props = Omit<
  SelectProps,
  'data' | 'value' | 'onChange' | 'label' | 'onInput' | 'onDropdownClose' | 'renderOption'
> & {
  /** Label for screen readers. */
  readonly label: string;
  readonly mode: Mode;
  /** Offers only active keys. */
  readonly onlyActive?: boolean;
  /** Id of the selected key. */
  readonly value: string | null;
  readonly onChange: (key: Key | null) => void;
};

const keysShown = 50;

/** `<KeySelect label="Key" mode={mode} value={id} onChange={(key) => …} clearable />` */
export function KeySelect({ label, mode, onlyActive = false, value, onChange, ...select }: Props) {
  const { search, typing } = useTypedSearch();
  const chosen = useApi(
    'GET /accounts/:account/keys/:key',
    { params: { key: value ?? '' } },
    { enabled: value !== null },
  );
  const state = onlyActive ? { state: ['active' as const] } : {};
  const found = useApi(
    'GET /accounts/:account/keys',
    { query: { mode, limit: keysShown, search: search || undefined, ...state } },
    { keepPrevious: true },
  );
  const keys = new Map((found.data?.data ?? []).map((key) => [key.id, key]));
  if (chosen.data && value !== null) keys.set(value, chosen.data);
  const nameOf = (id: string) => keys.get(id)?.name || keys.get(id)?.hint || id;
  const ids = [...keys.keys(), ...(value === null || keys.has(value) ? [] : [value])];
  return (
    <Select
      aria-label={label}
      data={ids.map((id) => ({ value: id, label: nameOf(id) }))}
      value={value}
      onChange={(id) => onChange(id === null ? null : (keys.get(id) ?? null))}
      searchable
      {...typing}
      // The gateway has filtered already, by more than the name.
      filter={({ options }) => options}
      nothingFoundMessage={found.isFetching ? 'Searching…' : 'No matching keys'}
      renderOption={({ option }) => (
        <div>
          <Text size="sm">{option.label}</Text>
          <Text size="xs" c="dimmed" ff="monospace">
            {keys.get(option.value)?.hint}
          </Text>
        </div>
      )}
      {...select}
    />
  );
}
