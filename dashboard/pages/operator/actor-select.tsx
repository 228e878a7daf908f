// Whoever changes things: a user, found by name or address, or a service by its name.
import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { useApi } from '../../api/use-api.ts';

type Props = { readonly value: string | null; readonly onChange: (id: string | null) => void };

const usersShown = 50;
const services = [{ value: 'stripe', label: 'Stripe' }];

/** A user, found by name or address; commands and services go by their names. */
export function ActorSelect({ value, onChange }: Props) {
  const [typed, setTyped] = useState('');
  const [search] = useDebouncedValue(typed, 200);
  const found = useApi('GET /operator/users', { query: { search, limit: usersShown } }, { keepPrevious: true });
  const chosen = useApi('GET /operator/users', { query: { search: value ?? '', limit: 1 } }, { enabled: value !== null });
  const users = [...(found.data?.data ?? []), ...(chosen.data?.data ?? [])];
  const emails = new Map(users.map(({ id, email }) => [id, email]));
  for (const { value: id, label } of services) emails.set(id, label);
  if (value !== null && !emails.has(value)) emails.set(value, value);
  return (
    <Select
      aria-label="Changed by"
      placeholder="By anybody"
      data={[...emails].map(([id, label]) => ({ value: id, label }))}
      value={value}
      onChange={onChange}
      searchable
      searchValue={typed}
      onSearchChange={setTyped}
      // What the gateway found, also by its name or id.
      filter={({ options }) => options}
      nothingFoundMessage={found.isFetching ? 'Searching…' : 'Nobody like that'}
      clearable
      w={220}
    />
  );
}
