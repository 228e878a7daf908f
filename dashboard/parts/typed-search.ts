import { useDebouncedValue } from '@mantine/hooks';
import { useState, type FormEvent } from 'react';

/**
 * `const { search, typing } = useTypedSearch();` for `<Select searchable {...typing} />` with options
 * from the server. `search` is what the user types, but not the label of the chosen option, which
 * the field also shows. Empty: all options.
 */
export function useTypedSearch() {
  const [typed, setTyped] = useState('');
  const [search] = useDebouncedValue(typed, 200);
  const typing = {
    onInput: (event: FormEvent<HTMLInputElement>) => setTyped(event.currentTarget.value),
    onDropdownClose: () => setTyped(''),
  };
  return { search, typing };
}
