// Filters that this browser keeps under a name.
import { Button } from '@mantine/core';
import { IconBookmark } from '@tabler/icons-react';
import { SavedList } from '../../parts/saved-list.tsx';
import type { Search } from '../../parts/url-state.ts';
import { toSearch, type Filters } from './request-filters.ts';

type Props = { readonly filters: Filters; readonly setFilters: (patch: Search) => void };

export function SavedFilters({ filters, setFilters }: Props) {
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  return (
    <SavedList<{ readonly filters: Filters }>
      storageKey="tollgate.requests.filters"
      label="Saved filters"
      nameLabel="Name of the current filters"
      current={isFiltered ? { filters } : null}
      onChoose={({ filters: chosen }) => setFilters(toSearch(chosen))}
      position="bottom-end"
      opener={opener}
    />
  );
}

function opener(toggle: () => void) {
  return (
    <Button
      variant="subtle"
      color="gray"
      leftSection={<IconBookmark size={16} aria-hidden />}
      onClick={toggle}
    >
      Saved filters
    </Button>
  );
}
