import { CloseButton, TextInput, type TextInputProps } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useState } from 'react';

type Props = Omit<TextInputProps, 'value' | 'onChange' | 'label'> & {
  /** Placeholder, and label for screen readers. */
  readonly label: string;
  readonly value: string;
  /** Called 250 ms after the last keystroke. */
  readonly onSearch: (text: string) => void;
};

/** `<SearchField label="Search keys" value={filters.q} onSearch={(q) => setFilters({ q })} />` */
export function SearchField({ label, value, onSearch, ...input }: Props) {
  const [typed, setTyped] = useState(value);
  const [applied, setApplied] = useState(value);
  // The value changed outside the field, by browser navigation or by clearing all filters. Text
  // typed
  // after a search started is kept.
  if (value !== applied) {
    setApplied(value);
    setTyped(value);
  }
  const search = useDebouncedCallback((text: string) => {
    setApplied(text);
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
      rightSection={
        typed === '' ? null : (
          <CloseButton size="sm" aria-label="Clear" onClick={() => change('')} />
        )
      }
      value={typed}
      onChange={(event) => change(event.currentTarget.value)}
      {...input}
    />
  );
}
