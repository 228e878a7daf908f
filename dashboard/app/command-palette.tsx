// Command palette (`mod+K`): finds pages, keys, models, requests, accounts, documentation and
// actions. Pages and actions are found here, the rest by the gateway, which knows the user's rights.
import { Kbd, Text, UnstyledButton, VisuallyHidden } from '@mantine/core';
import { useDebouncedValue, useOs } from '@mantine/hooks';
import { createSpotlight, Spotlight, type SpotlightActionGroupData } from '@mantine/spotlight';
import { IconSearch } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import classes from './command-palette.module.css';
import { matching, namedFirst, type Entry } from './palette-entries.ts';
import { useActions } from './palette-actions.tsx';
import { useFound } from './palette-found.tsx';
import { usePages } from './palette-pages.tsx';

/** Waits for a pause in typing before the gateway is asked. */
const pauseMs = 200;

const [store, spotlight] = createSpotlight();

export function CommandPalette() {
  const [query, setQuery] = useState('');
  const [settled] = useDebouncedValue(query.trim(), pauseMs);
  const own = [...usePages(), ...useActions()].map(({ group, entries }) => ({
    group,
    entries: matching(entries, query),
  }));
  const found = useFound(query.trim() === '' ? '' : settled);
  const groups = [...namedFirst(own, query), ...found.groups].filter(
    ({ entries }) => entries.length > 0,
  );
  useSelectedFirst(query === '' ? '' : groups[0]?.entries[0]?.id);
  return (
    <Spotlight
      store={store}
      shortcut="mod + K"
      highlightQuery
      scrollable
      maxHeight="min(480px, 70vh)"
      query={query}
      onQueryChange={setQuery}
      // The entries are filtered already.
      filter={(_query, actions) => actions}
      overlayProps={{ backgroundOpacity: 0.45, blur: 2 }}
      classNames={{ actionDescription: classes.description }}
      attributes={{ content: { 'aria-label': 'Search' } }}
      nothingFound={found.isLoading || settled !== query.trim() ? 'Searching…' : 'Nothing found'}
      searchProps={{
        placeholder: 'Search pages, keys, models, request IDs, documentation …',
        'aria-label': 'Search',
        leftSection: <IconSearch size={18} aria-hidden />,
      }}
      actions={groups.map(({ group, entries }) => toGroup(group, entries))}
    />
  );
}

/**
 * Selects the first entry again when another one came first after a pause, so that Enter opens it.
 * Spotlight itself selects an entry only while the user types. A choice by arrow keys stays.
 */
function useSelectedFirst(firstId: string | undefined): void {
  useEffect(() => {
    const { listId, selected } = store.getState();
    const list = document.getElementById(listId);
    if (!firstId || !list || selected > 0) return;
    list.querySelector('[data-selected]')?.removeAttribute('data-selected');
    list.querySelector('[data-action]')?.setAttribute('data-selected', 'true');
    store.updateState((state) => ({ ...state, selected: 0 }));
  }, [firstId]);
}

function toGroup(group: string, entries: readonly Entry[]): SpotlightActionGroupData {
  return {
    group,
    actions: entries.map(({ id, label, description, icon: Icon, run }) => ({
      id,
      label,
      ...(description !== undefined && { description }),
      leftSection: <Icon size={20} stroke={1.6} aria-hidden />,
      onClick: run,
    })),
  };
}

/** Looks like a search field and opens the palette. */
export function CommandPaletteButton() {
  const isMac = useOs() === 'macos';
  return (
    <UnstyledButton className={classes.button} onClick={spotlight.open}>
      <VisuallyHidden>Search</VisuallyHidden>
      <IconSearch size={16} aria-hidden />
      <Text size="md" visibleFrom="sm" aria-hidden>
        Search…
      </Text>
      <Kbd size="xs" visibleFrom="sm" ml="auto" aria-hidden>
        {isMac ? '⌘ K' : 'Ctrl K'}
      </Kbd>
    </UnstyledButton>
  );
}
