// What the command palette offers, and how typed words find it.
import type { IconProps } from '@tabler/icons-react';
import type { ComponentType } from 'react';

export type Entry = {
  readonly id: string;
  readonly label: string;
  readonly description?: string;
  /** Further words that find it. */
  readonly keywords?: string;
  readonly icon: ComponentType<IconProps>;
  readonly run: () => void;
};

export type Group = { readonly group: string; readonly entries: readonly Entry[] };

/** Returns the entries that contain every word, those with the first word in their label first. */
export function matching(entries: readonly Entry[], query: string): readonly Entry[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const [first] = words;
  if (first === undefined) return entries;
  const textOf = ({ label, description = '', keywords = '' }: Entry) =>
    `${label} ${description} ${keywords}`.toLowerCase();
  const rank = ({ label }: Entry) => (label.toLowerCase().includes(first) ? 0 : 1);
  return entries
    .filter((entry) => words.every((word) => textOf(entry).includes(word)))
    .toSorted((one, other) => rank(one) - rank(other));
}

/** Returns the groups in which an entry has the whole text in its label before the others. */
export function namedFirst(groups: readonly Group[], query: string): readonly Group[] {
  const text = query.trim().toLowerCase();
  const rank = ({ entries }: Group) =>
    entries.some(({ label }) => label.toLowerCase().includes(text)) ? 0 : 1;
  return groups.toSorted((one, other) => rank(one) - rank(other));
}
