// Keys of all accounts.
import { Group, Select, Stack } from '@mantine/core';
import { useUrlState } from '../../../parts/url-state.ts';
import type { Query } from '../../../api/client.ts';
import { PageHeader } from '../../../parts/page-header.tsx';
import { SearchField } from '../../../parts/search-field.tsx';
import { searchTextOf } from '../../../parts/key-search.ts';
import { OperatorKeys } from '../operator-keys.tsx';

type State = NonNullable<Query<'GET /operator/keys'>['state']>[number];
const states: readonly { readonly value: State; readonly label: string }[] = [
  { value: 'active', label: 'Active' },
  { value: 'disabled', label: 'Disabled' },
  { value: 'expired', label: 'Expired' },
  { value: 'revoked', label: 'Revoked' },
];

export function Page() {
  const [{ search, state, kind }, setState] = useUrlState(
    ({ q = '', state: name, kind: chosen }) => ({
      search: q,
      state: states.find(({ value }) => value === name)?.value ?? null,
      kind: chosen === 'live' ? ('live' as const) : chosen === 'test' ? ('test' as const) : null,
    }),
  );
  return (
    <>
      <PageHeader
        title="All keys"
        description="Keys of every account. Owners set their limits; here you can find and stop them."
      />
      <Stack>
        <Group gap="sm">
          <SearchField
            label="Search by name, last characters or ID"
            value={search}
            onSearch={(text) => setState({ q: searchTextOf(text) })}
            style={{ flex: '1 1 220px' }}
            maw={360}
          />
          <Select
            aria-label="Mode"
            placeholder="Live and test"
            data={[
              { value: 'live', label: 'Live' },
              { value: 'test', label: 'Test' },
            ]}
            value={kind}
            onChange={(value) => setState({ kind: value ?? undefined })}
            clearable
            w={150}
          />
          <Select
            aria-label="State"
            placeholder="Any state"
            data={[...states]}
            value={state}
            onChange={(value) => setState({ state: value ?? undefined })}
            clearable
            w={150}
          />
        </Group>
        <OperatorKeys
          filters={{ search, mode: kind ?? undefined, state: state === null ? undefined : [state] }}
        />
      </Stack>
    </>
  );
}
