// Decides what happens to each field of a client's body, at any depth, on the straight path. Each
// wire format has one table of every field in the official types. The tables drive the check; tests
// compare them with the types and with the relay.
//
// A field is looked up by the object that holds it: by that object's `type`, and by the name of the
// field that the object stands in. A refusal under either counts, so an invented `type` cannot hide
// a field. A field that the table lacks is left out, because it may raise the price or the amount of
// output, unless the operator has opened it with `pass_fields`.
import { invalidRequest, quoted, type ApiError } from '../canonical/errors.ts';
import { askedTiers } from '../canonical/service-tier.ts';
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

/** Gives many names one verdict: `verdicts({ rule: 'pass' }, 'type text')`. White space separates them. */
export function verdicts(verdict: Verdict, names: string): Fields {
  return Object.fromEntries(
    names
      .trim()
      .split(/\s+/)
      .map((name) => [name, verdict]),
  );
}

/** Lets fields pass: `pass('type text')`. */
export function pass(names: string): Fields {
  return verdicts({ rule: 'pass' }, names);
}

/** Fields of tools and of edits of the context, which are judged by their kind and price. */
export function ofTool(names: string): Fields {
  return verdicts({ rule: 'tool' }, names);
}

export function refuse(why: string, except?: (value: unknown) => boolean): Refusal {
  return { rule: 'refuse', why, ...(except && { except }) };
}

/** The refusal of a field that is not offered, and may be left out. */
export function unavailable(why: string, except?: (value: unknown) => boolean): Refusal {
  return refuse(`is not available here; leave it out: ${why}`, except);
}

/** Why tools and fields are not sold. */
export const reasons = {
  unpriced: 'it is billed separately, and this gateway has no price for it',
  stored: 'it names state kept at the provider',
  servers: 'the provider would call the servers, and no hold can cover those tokens',
  unpricedSearch:
    'each search is billed separately, and has no price here; the operator can set one in `tool_prices`',
};

/** `service_tier` of Chat and Responses. Which of them are sold depends on the model. */
export const knownTier = refuse(
  `must be one of ${askedTiers.map((tier) => `\`${String(tier)}\``).join(', ')}: others have no price here`,
  (value) => askedTiers.includes(value),
);

/**
 * The part types that a field may hold, because the hold can be estimated only for these: `{
 * content: 'text image_url' }`.
 */
export type PartKinds = Readonly<Record<string, string>>;

/**
 * The operator's `pass_fields`: paths without list indices, such as `messages.content.hologram`.
 */
export type OpenedFields = ReadonlySet<string>;

/** How to treat fields that the table lacks. */
export type UnknownFields = {
  /** The fields that pass. Default: none. */
  readonly opened?: OpenedFields;
  /** True with `limits.unknown_fields: refuse`: the others answer 400. */
  readonly areRefused?: boolean;
  /** Gets the paths of fields that were left out, without list indices and cut short. */
  readonly leftOut?: Set<string>;
};

/** The most paths in `leftOut`, and the most characters of a name and of a path. */
const leftOutMax = 100;
const nameCharactersMax = 80;
const pathCharactersMax = 200;

type FieldCheck = <Body extends JsonObject>(body: Body, unknown?: UnknownFields) => Body;

/**
 * Returns a check that throws ApiError `invalid_request` with the path of the first refused field,
 * and returns the body without unknown fields. What needs no change stays the same object.
 */
export function compileVerdicts(table: VerdictTable, parts: PartKinds): FieldCheck {
  const rules = compile(table, parts);
  return <Body extends JsonObject>(body: Body, unknown: UnknownFields = {}) =>
    keepKnown({ rules, unknown, path: [] }, body, {
      holder: 'request',
      isRoot: true,
      isOpened: false,
    }) as Body;
}

/** Returns the body's fields that are never sent. */
export function droppedFields({ request }: VerdictTable): string[] {
  return Object.keys(request).filter((name) => request[name]!.rule === 'drop');
}

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
/** `path`: the names and list indices that lead to the value under the check. */
type Search = {
  readonly rules: Rules;
  readonly unknown: UnknownFields;
  readonly path: (string | number)[];
};

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
 * `isOpened`: the object is inside an opened field, where unknown names are allowed but refused
 * ones are not.
 */
type ObjectLocation = {
  readonly holder: string;
  readonly isRoot: boolean;
  readonly isOpened: boolean;
};

/** A `type` in the body itself has no meaning. */
function keepKnown(
  search: Search,
  object: JsonObject,
  { holder, isRoot, isOpened }: ObjectLocation,
): JsonObject {
  const { rules, path } = search;
  const byType =
    !isRoot && typeof object.type === 'string' ? rules.byKind.get(object.type) : undefined;
  const byHolder = isRoot ? rules.request : rules.byKind.get(holder);
  /** `undefined`: left out. */
  let edits: Map<string, unknown> | null = null;
  for (const name of Object.keys(object)) {
    const value = object[name];
    path.push(name);
    const ofType = byType?.get(name);
    const ofHolder = byHolder?.get(name);
    const anywhere = rules.anywhere.get(name);
    const refusal = refused(ofType, value) ?? refused(ofHolder, value) ?? refused(anywhere, value);
    if (refusal) throw refusalAt(search, refusal);
    const isUnknown = ofType === undefined && ofHolder === undefined && anywhere === undefined;
    if (isUnknown && !isOpened && !isOpenedHere(search)) {
      leaveOut(search, value, [byType, byHolder]);
      (edits ??= new Map()).set(name, undefined);
    } else if (
      typeof value === 'object' &&
      value !== null &&
      ofHolder !== 'unread' &&
      !rules.own.has(name)
    ) {
      const kept = keepKnownIn(search, value, { holder: name, isOpened: isOpened || isUnknown });
      if (kept !== value) (edits ??= new Map()).set(name, kept);
    }
    path.pop();
  }
  if (!edits) return object;
  const edit = (name: string) => (edits.has(name) ? edits.get(name) : object[name]);
  const left = Object.keys(object).filter((name) => !edits.has(name) || edits.get(name));
  // From entries, because assigning `__proto__` would lose it.
  return Object.fromEntries(left.map((name) => [name, edit(name)]));
}

function refused(rule: FieldRule | undefined, value: unknown): Refusal | null {
  return typeof rule === 'object' && isAskedFor(value) && !rule.except?.(value) ? rule : null;
}

const remedy = 'leave it out, or ask the operator to open it with `pass_fields`';

function refusalAt({ path }: Search, { why, details }: Refusal): ApiError {
  let text = '';
  for (const step of path)
    text +=
      typeof step === 'number' ? `[${step}]` : text === '' ? shorten(step) : `.${shorten(step)}`;
  return invalidRequest(text, `${text} ${why}`, details);
}

/** Lists an unknown field that asks for something. Throws ApiError when those are refused. */
function leaveOut(search: Search, value: unknown, here: readonly (FieldRules | undefined)[]): void {
  const { unknown, path } = search;
  if (unknown.areRefused) throw refusalAt(search, unknownField(String(path.at(-1)), here));
  if (!unknown.leftOut || unknown.leftOut.size >= leftOutMax || !isAskedFor(value)) return;
  unknown.leftOut.add(namesIn(path).map(shorten).join('.').slice(0, pathCharactersMax));
}

/** Names the field that was probably meant, if one is accepted here. */
function unknownField(name: string, here: readonly (FieldRules | undefined)[]): Refusal {
  const accepted = here.flatMap((rules) =>
    [...(rules ?? [])].filter(([, rule]) => rule === 'known').map(([known]) => known),
  );
  const meant = nearestOf(name, accepted);
  const question = meant === null ? '' : `did you mean \`${meant}\`? Otherwise `;
  return refuse(`is an unknown field; ${question}${remedy}`);
}

/** True when the operator has opened the path, or the kind of content at the path. */
function isOpenedHere({ unknown: { opened }, path }: Search, kind?: string): boolean {
  if (!opened || opened.size === 0) return false;
  return opened.has([...namesIn(path), ...(kind === undefined ? [] : [kind])].join('.'));
}

function namesIn(path: readonly (string | number)[]): string[] {
  return path.filter((step) => typeof step === 'string');
}

/** A field's name can be any text. */
function shorten(name: string): string {
  return name.length <= nameCharactersMax ? name : `${name.slice(0, nameCharactersMax)}…`;
}

function keepKnownIn(search: Search, value: unknown, at: Omit<ObjectLocation, 'isRoot'>): unknown {
  if (Array.isArray(value)) {
    let kept: unknown[] | null = null;
    for (let index = 0; index < value.length; index++) {
      const element: unknown = value[index];
      if (typeof element !== 'object' || element === null) continue;
      search.path.push(index);
      const known = keepKnownIn(search, element, at);
      if (known !== element) (kept ??= [...value])[index] = known;
      search.path.pop();
    }
    return kept ?? value;
  }
  if (!isObject(value)) return value;
  const kind = at.isOpened ? null : unknownPartKind(search.rules, value, at.holder);
  const isOpened = at.isOpened || (kind !== null && isOpenedHere(search, kind));
  if (kind !== null && !isOpened) {
    search.path.push('type');
    throw refusalAt(search, refuse(`${quoted(kind)} is an unknown kind of content; ${remedy}`));
  }
  return keepKnown(search, value, { ...at, isOpened, isRoot: false });
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
