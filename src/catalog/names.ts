// The names that clients send for a model beside its id: with a vendor, a date, or `-latest`.

/** What of a model its names depend on. */
export type Named = {
  readonly ownedBy: string;
  readonly routes: readonly { readonly provider: string }[];
};

/**
 * A name that is no id itself: `vendor/id` where the vendor made the model or serves it, an id with a date
 * (`claude-haiku-4-5-20251001`, `gpt-4o-2024-08-06`) or with `-latest`, or both at once. Never a mere prefix, and null when two
 * models could be meant, since they may have different prices.
 */
export function resolveVariant<Entry extends Named>(byId: ReadonlyMap<string, Entry>, name: string): Entry | null {
  const plain = byId.get(withoutDate(name)) ?? null;
  const ofVendor = resolveOfVendor(byId, name);
  if (plain && ofVendor && plain !== ofVendor) return null;
  return plain ?? ofVendor;
}

/** Ids may contain a slash themselves: only what stands before the first one can be the vendor. */
function resolveOfVendor<Entry extends Named>(byId: ReadonlyMap<string, Entry>, name: string): Entry | null {
  const slash = name.indexOf('/');
  if (slash < 1) return null;
  const vendor = name.slice(0, slash).toLowerCase();
  const rest = name.slice(slash + 1);
  const model = byId.get(rest) ?? byId.get(withoutDate(rest));
  return model && vendorsOf(model).includes(vendor) ? model : null;
}

function vendorsOf(model: Named): string[] {
  return [model.ownedBy, ...model.routes.map(({ provider }) => provider)].map((vendor) => vendor.toLowerCase());
}

function withoutDate(name: string): string {
  if (name.endsWith('-latest')) return name.slice(0, -'-latest'.length);
  const match = /^(.+)-(\d{4})(-?)(\d{2})\3(\d{2})$/u.exec(name);
  if (!match) return name;
  const [, id, year, , month, day] = match;
  return isCalendarDay(`${year}-${month}-${day}`) ? id! : name;
}

function isCalendarDay(day: string): boolean {
  const time = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
}
