// Model names that clients send besides ids: with a vendor, a date, or `-latest`.
import { parseUtcDay } from '../../lib/iso-time.ts';

/** The parts of a model that its names depend on. */
type NamedModel = {
  readonly ownedBy: string;
  readonly routes: readonly { readonly provider: string }[];
};

/**
 * Resolves a name that is not an id. It may be `vendor/id`, if the vendor makes or serves the
 * model. It may be an id with a date (`claude-haiku-4-5-20251001`, `gpt-6-luna-2026-09-22`) or
 * `-latest`, or both. Never matches a prefix. Returns null when two models match, because their
 * prices may differ.
 */
export function resolveVariant<Entry extends NamedModel>(
  byId: ReadonlyMap<string, Entry>,
  name: string,
): Entry | null {
  const plain = byId.get(withoutDate(name)) ?? null;
  const ofVendor = resolveOfVendor(byId, name);
  if (plain && ofVendor && plain !== ofVendor) return null;
  return plain ?? ofVendor;
}

/**
 * Resolves `vendor/id`. Ids may contain slashes, so only the part before the first slash can be the
 * vendor.
 */
function resolveOfVendor<Entry extends NamedModel>(
  byId: ReadonlyMap<string, Entry>,
  name: string,
): Entry | null {
  const slash = name.indexOf('/');
  if (slash < 1) return null;
  const vendor = name.slice(0, slash).toLowerCase();
  const rest = name.slice(slash + 1);
  const model = byId.get(rest) ?? byId.get(withoutDate(rest));
  return model && vendorsOf(model).includes(vendor) ? model : null;
}

function vendorsOf(model: NamedModel): string[] {
  return [model.ownedBy, ...model.routes.map(({ provider }) => provider)].map((vendor) =>
    vendor.toLowerCase(),
  );
}

function withoutDate(name: string): string {
  if (name.endsWith('-latest')) return name.slice(0, -'-latest'.length);
  const match = /^(.+)-(\d{4})(-?)(\d{2})\3(\d{2})$/u.exec(name);
  if (!match) return name;
  const [, id, year, , month, day] = match;
  return parseUtcDay(`${year}-${month}-${day}`) === null ? name : id!;
}
