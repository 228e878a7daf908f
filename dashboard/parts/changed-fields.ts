/**
 * Returns the fields that differ, as JSON. What somebody else has changed since a form was opened stays as
 * it is.
 */
export function changedFields<Fields extends object>(was: Fields, is: Fields): Partial<Fields> {
  const names = Object.keys(is) as (keyof Fields)[];
  const changed = names.filter((name) => JSON.stringify(was[name]) !== JSON.stringify(is[name]));
  return Object.fromEntries(changed.map((name) => [name, is[name]])) as Partial<Fields>;
}
