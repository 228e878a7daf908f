// What becomes of each field of a client's body, at any depth, on its way up the straight path. Each wire format states it in one table
// of every field that the official types know; the tables drive the check, and tests walk them against the types and the relay.
//
// A field is found by the object that holds it: under that object's `type`, and under the name of the field that the object itself
// stands in. A refusal under either counts, so that no made-up `type` hides one. A field that the table does not know is refused, since
// it may raise the price or the amount of what the provider generates, unless the operator has opened it with `pass_fields`.
import { invalidRequest } from '../canonical/errors.ts';
import { isObject } from '../lib/json.ts';
import type { JsonObject } from './format.ts';

export type Verdict =
  /** Sent as it came. What it holds has verdicts of its own. */
  | { readonly rule: 'pass' }
  /** The client's own data, where any name may stand: sent as it came and never looked into. Under `anywhere` only, which says what is
   * in such a field and not where it may stand. */
  | { readonly rule: 'own' }
  /** Written by the gateway, whatever the client asked for. */
  | { readonly rule: 'set' }
  /** Never sent, and listed: it changes nothing in the answer. */
  | { readonly rule: 'drop' }
  /** A tool or an edit: passes or not by its kind and its price, as shared-credential.ts says. */
  | { readonly rule: 'tool' }
  | Refusal
  /** Sent always, whatever the client asked for among `accepts`. */
  | { readonly rule: 'force'; readonly value: unknown; readonly accepts: readonly unknown[] };

/** 400, but for values that ask for nothing (null, false, an empty list) and those that `except` takes. */
export type Refusal = {
  readonly rule: 'refuse';
  /** Follows the field's path: "names a file kept at the provider; send its content instead". */
  readonly why: string;
  readonly except?: (value: unknown) => boolean;
  /** Further fields of the error, which a client library acts on. */
  readonly details?: Readonly<Record<string, unknown>>;
};

type Fields = Readonly<Record<string, Verdict>>;
/** By the kind of object: `request` is the body itself, `anywhere` holds in every object. */
export type VerdictTable = Readonly<Record<string, Fields>> & { readonly request: Fields; readonly anywhere: Fields };

/** One verdict for many names: `verdicts({ rule: 'pass' }, 'type text')`. */
export function verdicts(verdict: Verdict, names: string): Fields {
  return Object.fromEntries(names.split(/\s+/).map((name) => [name, verdict]));
}

/** Fields that pass: `pass('type text')`. */
export function pass(names: string): Fields {
  return verdicts({ rule: 'pass' }, names);
}

export function refuse(why: string, except?: (value: unknown) => boolean): Refusal {
  return { rule: 'refuse', why, ...(except && { except }) };
}

/** The kinds of parts (their `type`) that may stand in a field: what the hold is estimated from. `{ content: 'text image_url' }` */
export type PartKinds = Readonly<Record<string, string>>;

/** The operator's `pass_fields`: paths without the places in lists, such as `messages.content.hologram`. */
export type OpenedFields = ReadonlySet<string>;
export type FieldCheck = (body: JsonObject, opened?: OpenedFields) => void;

const noneOpened: OpenedFields = new Set();

/** A check of bodies, which throws ApiError `invalid_request` with the path of the first field that is refused or unknown. */
export function compileVerdicts(table: VerdictTable, parts: PartKinds): FieldCheck {
  const rules = compile(table, parts);
  return (body, opened = noneOpened) => {
    const found = findRefused({ rules, opened }, body, { holder: 'request', isRoot: true, isOpened: false, place: '' });
    if (found) throw invalidRequest(found.path, `${found.path} ${found.refusal.why}`, found.refusal.details);
  };
}

/** One table with the fields of several. */
export function joinTables(table: VerdictTable, ...others: readonly Readonly<Record<string, Fields>>[]): VerdictTable {
  const joined: Record<string, Fields> & { request: Fields; anywhere: Fields } = { ...table };
  for (const other of others) {
    for (const [kind, fields] of Object.entries(other)) joined[kind] = { ...joined[kind], ...fields };
  }
  return joined;
}

/** Whether a value asks for something: `background: false` and `mcp_servers: []` do not. */
export function isAskedFor(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && !(Array.isArray(value) && value.length === 0);
}

/** Maps, which do not know the names that every object has. `unread`: never sent, so that nobody looks into it. */
type FieldRule = Refusal | 'known' | 'unread';
type FieldRules = ReadonlyMap<string, FieldRule>;
type Rules = {
  readonly request: FieldRules;
  readonly byKind: ReadonlyMap<string, FieldRules>;
  readonly anywhere: FieldRules;
  readonly own: ReadonlySet<string>;
  readonly partKinds: ReadonlyMap<string, ReadonlySet<string>>;
};
type Search = { readonly rules: Rules; readonly opened: OpenedFields };
type Found = { readonly path: string; readonly refusal: Refusal };

function compile({ request, anywhere, ...kinds }: VerdictTable, parts: PartKinds): Rules {
  const own = Object.keys(anywhere).filter((name) => anywhere[name]!.rule === 'own');
  return {
    request: rulesOf(request),
    byKind: new Map(Object.entries(kinds).map(([kind, fields]) => [kind, rulesOf(fields)])),
    anywhere: rulesOf(Object.fromEntries(Object.entries(anywhere).filter(([, { rule }]) => rule !== 'own'))),
    own: new Set(own),
    partKinds: new Map(Object.entries(parts).map(([holder, names]) => [holder, new Set(names.split(' '))])),
  };
}

function rulesOf(fields: Fields): FieldRules {
  return new Map(Object.entries(fields).map(([name, verdict]) => [name, ruleOf(verdict)]));
}

function ruleOf(verdict: Verdict): FieldRule {
  if (verdict.rule === 'refuse') return verdict;
  if (verdict.rule === 'drop') return 'unread';
  if (verdict.rule !== 'force') return 'known';
  return refuse(mustBe(verdict.accepts), (value) => verdict.accepts.includes(value));
}

function mustBe(accepted: readonly unknown[]): string {
  return `must be ${accepted.map((value) => `\`${String(value)}\``).join(' or ')}`;
}

/**
 * `place`: the path of the object without places in lists; kept only where fields are opened. `isOpened`: it stands in an opened field,
 * where any name may stand but those that are refused for a reason of their own.
 */
type Standing = { readonly holder: string; readonly isRoot: boolean; readonly isOpened: boolean; readonly place: string };

/** The body may state a `type` of its own, which means nothing there. */
function findRefused(search: Search, object: JsonObject, { holder, isRoot, isOpened, place }: Standing): Found | null {
  const { rules, opened } = search;
  const byType = !isRoot && typeof object.type === 'string' ? rules.byKind.get(object.type) : undefined;
  const byHolder = isRoot ? rules.request : rules.byKind.get(holder);
  for (const name of Object.keys(object)) {
    const value = object[name];
    const [ofType, ofHolder, anywhere] = [byType?.get(name), byHolder?.get(name), rules.anywhere.get(name)];
    const refusal = refused(ofType, value) ?? refused(ofHolder, value) ?? refused(anywhere, value);
    if (refusal) return { path: name, refusal };
    const inner = opened.size === 0 ? '' : joinPath(place, name);
    const isUnknown = ofType === undefined && ofHolder === undefined && anywhere === undefined;
    if (isUnknown && !isOpened && !opened.has(inner)) return { path: shorten(name), refusal: unknownField };
    if (typeof value !== 'object' || value === null || ofHolder === 'unread' || rules.own.has(name)) continue;
    const found = findInValue(search, value, { holder: name, isOpened: isOpened || isUnknown, place: inner });
    if (found) return { path: `${name}${found.path}`, refusal: found.refusal };
  }
  return null;
}

function refused(rule: FieldRule | undefined, value: unknown): Refusal | null {
  return typeof rule === 'object' && isAskedFor(value) && !rule.except?.(value) ? rule : null;
}

const remedy = 'leave it out, or ask the operator to open it with `pass_fields`';
const unknownField = refuse(`is not a field that is known here; ${remedy}`);

function joinPath(place: string, name: string): string {
  return place === '' ? name : `${place}.${name}`;
}

/** Any text can be a field's name. */
function shorten(name: string): string {
  return name.length <= 80 ? name : `${name.slice(0, 80)}…`;
}

/** The path begins with what follows the holder's name: `[2].content` or `.ttl`. */
function findInValue(search: Search, value: unknown, at: Omit<Standing, 'isRoot'>): Found | null {
  if (Array.isArray(value)) {
    for (const [index, element] of value.entries()) {
      const found = typeof element === 'object' && element !== null ? findInValue(search, element, at) : null;
      if (found) return { path: `[${index}]${found.path}`, refusal: found.refusal };
    }
    return null;
  }
  if (!isObject(value)) return null;
  const kind = at.isOpened ? null : unknownPartKind(search.rules, value, at.holder);
  const isOpened = at.isOpened || (kind !== null && search.opened.has(joinPath(at.place, kind)));
  if (kind !== null && !isOpened) {
    return { path: '.type', refusal: refuse(`\`${shorten(kind)}\` is not a kind of content that is known here; ${remedy}`) };
  }
  const found = findRefused(search, value, { ...at, isOpened, isRoot: false });
  return found && { path: `.${found.path}`, refusal: found.refusal };
}

/** What an unknown kind of part costs cannot be estimated, unless it is text alone. null: it is known, or no part at all. */
function unknownPartKind(rules: Rules, object: JsonObject, holder: string): string | null {
  const { type } = object;
  const kinds = rules.partKinds.get(holder);
  if (!kinds || typeof type !== 'string' || kinds.has(type) || isPlainText(object)) return null;
  return type;
}

const textFields = new Set(['type', 'text', 'cache_control', 'prompt_cache_breakpoint']);

function isPlainText(part: JsonObject): boolean {
  return typeof part.text === 'string' && Object.keys(part).every((name) => textFields.has(name));
}
