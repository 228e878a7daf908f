import { CloseButton, TextInput, type TextInputProps } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useState } from 'react';

type Props = Omit<TextInputProps, 'value' | 'onChange' | 'label'> & {
  /** For screen readers, and as the placeholder. */
  readonly label: string;
  readonly value: string;
  /** A quarter of a second after the last letter. */
  readonly onSearch: (text: string) => void;
};

/** `<SearchField label="Search keys" value={filters.q} onSearch={(q) => setFilters({ q })} />` */
export function SearchField({ label, value, onSearch, ...input }: Props) {
  const [typed, setTyped] = useState(value);
  const [known, setKnown] = useState(value);
  // Changed from elsewhere: by going back, by clearing all filters. What was typed meanwhile stays when it was only searched for.
  if (value !== known) {
    setKnown(value);
    setTyped(value);
  }
  const search = useDebouncedCallback((text: string) => {
    setKnown(text);
    onSearch(text);
  }, 250);
  const change = (text: string) => {
    setTyped(text);
    search(text);
  };
  return (
    <TextInput
      type="search"
      aria-label={label}
      placeholder={label}
      leftSection={<IconSearch size={16} aria-hidden />}
      rightSection={typed === '' ? null : <CloseButton size="sm" aria-label="Clear" onClick={() => change('')} />}
      value={typed}
      onChange={(event) => change(event.currentTarget.value)}
      {...input}
    />
  );
}
