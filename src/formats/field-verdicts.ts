// Decides what happens to each field of a client's body, at any depth, on the straight path. Each
// wire format has one table of every field in the official types. The tables drive the check; tests
// compare them with the types and with the relay.
//
// A field is looked up by the object that holds it: by that object's `type`, and by the name of the
// field that the object stands in. A refusal under either counts, so an invented `type` cannot hide
// a field. A field that the table lacks is refused, because it may raise the price or the amount of
// output, unless the operator has opened it with `pass_fields`.
import { invalidRequest, quoted } from '../canonical/errors.ts';
import { isObject, type JsonObject } from '../lib/json.ts';
import { nearestOf } from '../lib/nearest.ts';

export type Verdict =
  /** Sent unchanged. The fields inside have verdicts of their own. */
  | { readonly rule: 'pass' }
  /**
   * The client's own data, in which any name is allowed: sent unchanged and never checked. Only
   * under `anywhere`, which says what such a field holds, not where it may stand.
   */
  | { readonly rule: 'own' }
  /** Set by the gateway, whatever the client asked for. */
  | { readonly rule: 'set' }
  /** Never sent, and listed as ignored: it does not change the answer. */
  | { readonly rule: 'drop' }
  /** A tool or a context edit: shared-credential.ts decides by its kind and price. */
  | { readonly rule: 'tool' }
  | Refusal
  /**
   * Always sent with `value`, whichever of `accepts` the client asked for. Other values are
   * refused.
   */
  | { readonly rule: 'force'; readonly value: unknown; readonly accepts: readonly unknown[] };

/**
 * Answers 400, except for values that ask for nothing (null, false, an empty list) and values that
 * `except` accepts.
 */
export type Refusal = {
  readonly rule: 'refuse';
  /**
   * Follows the field's path in the message: "names a file kept at the provider; send its content
   * instead".
   */
  readonly why: string;
  readonly except?: (value: unknown) => boolean;
  /** More fields of the error, for client libraries that act on them. */
  readonly details?: Readonly<Record<string, unknown>>;
};

type Fields = Readonly<Record<string, Verdict>>;
/**
 * Keyed by the kind of object. `request` is the body itself; `anywhere` applies to every object.
 */
export type VerdictTable = Readonly<Record<string, Fields>> & {
  readonly request: Fields;
  readonly anywhere: Fields;
};

/** Gives many names one verdict: `verdicts({ rule: 'pass' }, 'type text')`. */
export function verdicts(verdict: Verdict, names: string): Fields {
  return Object.fromEntries(names.split(/\s+/).map((name) => [name, verdict]));
}

/** Lets fields pass: `pass('type text')`. */
export function pass(names: string): Fields {
  return verdicts({ rule: 'pass' }, names);
}

export function refuse(why: string, except?: (value: unknown) => boolean): Refusal {
  return { rule: 'refuse', why, ...(except && { except }) };
}

/**
 * The part types that a field may hold, because the hold can be estimated only for these: `{
 * content: 'text image_url' }`.
 */
export type PartKinds = Readonly<Record<string, string>>;

/**
 * The operator's `pass_fields`: paths without list indices, such as `messages.content.hologram`.
 */
export type OpenedFields = ReadonlySet<string>;
type FieldCheck = (body: JsonObject, opened?: OpenedFields) => void;

const noneOpened: OpenedFields = new Set();

/**
 * Returns a check that throws ApiError `invalid_request` with the path of the first refused or
 * unknown field.
 */
export function compileVerdicts(table: VerdictTable, parts: PartKinds): FieldCheck {
  const rules = compile(table, parts);
  return (body, opened = noneOpened) => {
    const found = findRefused({ rules, opened }, body, {
      holder: 'request',
      isRoot: true,
      isOpened: false,
      fieldPath: '',
    });
    if (found)
      throw invalidRequest(found.path, `${found.path} ${found.refusal.why}`, found.refusal.details);
  };
}

/** Merges the fields of several tables. */
export function joinTables(
  table: VerdictTable,
  ...others: readonly Readonly<Record<string, Fields>>[]
): VerdictTable {
  const joined: Record<string, Fields> & { request: Fields; anywhere: Fields } = { ...table };
  for (const other of others) {
    for (const [kind, fields] of Object.entries(other))
      joined[kind] = { ...joined[kind], ...fields };
  }
  return joined;
}

/**
 * Returns false for values that ask for nothing, such as `background: false` and `mcp_servers: []`.
 */
export function isAskedFor(value: unknown): boolean {
  return (
    value !== undefined &&
    value !== null &&
    value !== false &&
    !(Array.isArray(value) && value.length === 0)
  );
}

/**
 * Maps, so that names such as `constructor` are not found on the prototype. `unread`: never sent,
 * so its content is not checked.
 */
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
    anywhere: rulesOf(
      Object.fromEntries(Object.entries(anywhere).filter(([, { rule }]) => rule !== 'own')),
    ),
    own: new Set(own),
    partKinds: new Map(
      Object.entries(parts).map(([holder, names]) => [holder, new Set(names.split(' '))]),
    ),
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
 * `fieldPath`: the object's path without list indices; only kept when the operator opened fields.
 * `isOpened`: the object is inside an opened field, where unknown names are allowed but refused
 * ones are not.
 */
type ObjectLocation = {
  readonly holder: string;
  readonly isRoot: boolean;
  readonly isOpened: boolean;
  readonly fieldPath: string;
};

/** A `type` in the body itself has no meaning. */
function findRefused(
  search: Search,
  object: JsonObject,
  { holder, isRoot, isOpened, fieldPath }: ObjectLocation,
): Found | null {
  const { rules, opened } = search;
  const byType =
    !isRoot && typeof object.type === 'string' ? rules.byKind.get(object.type) : undefined;
  const byHolder = isRoot ? rules.request : rules.byKind.get(holder);
  for (const name of Object.keys(object)) {
    const value = object[name];
    const [ofType, ofHolder, anywhere] = [
      byType?.get(name),
      byHolder?.get(name),
      rules.anywhere.get(name),
    ];
    const refusal = refused(ofType, value) ?? refused(ofHolder, value) ?? refused(anywhere, value);
    if (refusal) return { path: name, refusal };
    const inner = opened.size === 0 ? '' : joinPath(fieldPath, name);
    const isUnknown = ofType === undefined && ofHolder === undefined && anywhere === undefined;
    if (isUnknown && !isOpened && !opened.has(inner))
      return { path: shorten(name), refusal: unknownField(name, [byType, byHolder]) };
    if (typeof value !== 'object' || value === null || ofHolder === 'unread' || rules.own.has(name))
      continue;
    const found = findInValue(search, value, {
      holder: name,
      isOpened: isOpened || isUnknown,
      fieldPath: inner,
    });
    if (found) return { path: `${name}${found.path}`, refusal: found.refusal };
  }
  return null;
}

function refused(rule: FieldRule | undefined, value: unknown): Refusal | null {
  return typeof rule === 'object' && isAskedFor(value) && !rule.except?.(value) ? rule : null;
}

const remedy = 'leave it out, or ask the operator to open it with `pass_fields`';

/** Names the field that was probably meant, if one is accepted here. */
function unknownField(name: string, here: readonly (FieldRules | undefined)[]): Refusal {
  const accepted = here.flatMap((rules) =>
    [...(rules ?? [])].filter(([, rule]) => rule === 'known').map(([known]) => known),
  );
  const meant = nearestOf(name, accepted);
  const question = meant === null ? '' : `did you mean \`${meant}\`? Otherwise `;
  return refuse(`is an unknown field; ${question}${remedy}`);
}

function joinPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

/** A field's name can be any text. */
function shorten(name: string): string {
  return name.length <= 80 ? name : `${name.slice(0, 80)}…`;
}

/** The returned path begins after the holder's name: `[2].content` or `.ttl`. */
function findInValue(
  search: Search,
  value: unknown,
  at: Omit<ObjectLocation, 'isRoot'>,
): Found | null {
  if (Array.isArray(value)) {
    for (const [index, element] of value.entries()) {
      const found =
        typeof element === 'object' && element !== null ? findInValue(search, element, at) : null;
      if (found) return { path: `[${index}]${found.path}`, refusal: found.refusal };
    }
    return null;
  }
  if (!isObject(value)) return null;
  const kind = at.isOpened ? null : unknownPartKind(search.rules, value, at.holder);
  const isOpened =
    at.isOpened || (kind !== null && search.opened.has(joinPath(at.fieldPath, kind)));
  if (kind !== null && !isOpened) {
    return {
      path: '.type',
      refusal: refuse(`${quoted(kind)} is an unknown kind of content; ${remedy}`),
    };
  }
  const found = findRefused(search, value, { ...at, isOpened, isRoot: false });
  return found && { path: `.${found.path}`, refusal: found.refusal };
}

/**
 * Returns the type of a part whose cost cannot be estimated: one of an unknown kind that is more
 * than text. Returns null for all others.
 */
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
