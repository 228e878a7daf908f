// The ways to group figures, and the filters of the Requests page that show a group.
import type { Output, Query } from '../../api/client.ts';
import type { Search } from '../../parts/url-state.ts';

export type GroupName = Query<'GET /accounts/:account/analytics'>['by'];
export type Row = Output<'GET /accounts/:account/analytics'>['rows'][number];

type Group = {
  readonly label: string;
  readonly note?: string;
  /** The name of a row without an id. */
  readonly none: string;
};

export const groupNames: Readonly<Record<GroupName, Group>> = {
  model: { label: 'Model', none: 'No model' },
  key: { label: 'Key', none: 'No key' },
  member: {
    label: 'Member',
    note: 'Who created the key.',
    none: 'Keys of no member',
  },
  provider: {
    label: 'Provider',
    note: 'Some seconds late. Cached answers have no provider.',
    none: 'No provider',
  },
  tag: {
    label: 'Tag',
    note: 'A request counts in each of its tags. Latencies are of up to 200 tags a day.',
    none: 'No tag',
  },
};

/** Ignores an invalid value. */
export function readGroup({ by }: Search): GroupName {
  return by !== undefined && Object.hasOwn(groupNames, by) ? (by as GroupName) : 'model';
}

export function rowName(
  by: GroupName,
  { id, name, is_rest: isRest }: Pick<Row, 'id' | 'name' | 'is_rest'>,
): string {
  if (isRest) return 'All others';
  if (id === null) return groupNames[by].none;
  return name ?? (by === 'key' ? 'Unnamed' : id);
}

/** Returns the names of the tags, that of the highest cost first. */
export function tagNames(rows: readonly Pick<Row, 'id'>[]): string[] {
  return [...new Set(rows.flatMap(({ id }) => id?.split('=', 1) ?? []))];
}

/** null: no filter shows exactly these requests. */
export function rowFilter(by: GroupName, { id }: Pick<Row, 'id'>): Search | null {
  return id === null ? null : { [by]: id };
}

const sortedDaysMax = 31;

/** The order by a latency is limited to a month; the filter alone shows the same requests. */
export function sortWithin(
  { from, to }: { readonly from: string; readonly to: string },
  sort: string,
): Search {
  const days = (Date.parse(to) - Date.parse(from)) / 86_400_000 + 1;
  return days <= sortedDaysMax ? { sort } : {};
}
