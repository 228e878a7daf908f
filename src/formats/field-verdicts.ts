// What becomes of each field of a client's body, at any depth, on its way up the straight path. Each wire format states it in one table
// of every field that the official types know; the tables drive the check, and tests walk them against the types and the relay.
//
// A field is found by the object that holds it: under that object's `type`, and under the name of the field that the object itself
// stands in. A refusal under either counts, so that no made-up `type` hides one. Fields that no table knows pass.
import { invalidRequest } from '../canonical/errors.ts';
import { isObject } from '../lib/json.ts';
import type { JsonObject } from './format.ts';

export type Verdict =
  /** Sent as it came. What it holds has verdicts of its own. */
  | { readonly rule: 'pass' }
  /** The client's own data, where any name may stand: sent as it came and never looked into. Under `anywhere` only. */
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

/** A check of bodies, which throws ApiError `invalid_request` with the path of the first field that is refused. */
export function compileVerdicts(table: VerdictTable): (body: JsonObject) => void {
  const rules = compile(table);
  return (body) => {
    const found = findRefused(rules, body, { holder: 'request', isRoot: true });
    if (found) throw invalidRequest(found.path, `${found.path} ${found.refusal.why}`, found.refusal.details);
  };
}

/** Whether a value asks for something: `background: false` and `mcp_servers: []` do not. */
export function isAskedFor(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && !(Array.isArray(value) && value.length === 0);
}

type Rules = {
  readonly byKind: ReadonlyMap<string, ReadonlyMap<string, Refusal>>;
  readonly anywhere: ReadonlyMap<string, Refusal>;
  readonly own: ReadonlySet<string>;
};
type Found = { readonly path: string; readonly refusal: Refusal };

/** Only what can stop a request is kept for the check, in maps, which do not know the names that every object has. */
function compile(table: VerdictTable): Rules {
  const byKind = Object.entries(table)
    .map(([kind, fields]) => [kind, refusalsOf(fields)] as const)
    .filter(([kind, refusals]) => kind !== 'anywhere' && refusals.size > 0);
  const own = Object.entries(table.anywhere).filter(([, { rule }]) => rule === 'own');
  return { byKind: new Map(byKind), anywhere: refusalsOf(table.anywhere), own: new Set(own.map(([name]) => name)) };
}

function refusalsOf(fields: Fields): Map<string, Refusal> {
  const refusals = new Map<string, Refusal>();
  for (const [name, verdict] of Object.entries(fields)) {
    if (verdict.rule === 'refuse') refusals.set(name, verdict);
    if (verdict.rule === 'force')
      refusals.set(
        name,
        refuse(mustBe(verdict.accepts), (value) => verdict.accepts.includes(value)),
      );
  }
  return refusals;
}

function mustBe(accepted: readonly unknown[]): string {
  return `must be ${accepted.map((value) => `\`${String(value)}\``).join(' or ')}`;
}

/** The body may state a `type` of its own, which means nothing there. */
function findRefused(rules: Rules, object: JsonObject, { holder, isRoot }: { holder: string; isRoot: boolean }): Found | null {
  const byType = !isRoot && typeof object.type === 'string' ? rules.byKind.get(object.type) : undefined;
  const byHolder = rules.byKind.get(holder);
  for (const name of Object.keys(object)) {
    const value = object[name];
    const refusal =
      refused(byType?.get(name), value) ?? refused(byHolder?.get(name), value) ?? refused(rules.anywhere.get(name), value);
    if (refusal) return { path: name, refusal };
    if (typeof value !== 'object' || value === null || rules.own.has(name)) continue;
    const found = findInValue(rules, value, name);
    if (found) return { path: `${name}${found.path}`, refusal: found.refusal };
  }
  return null;
}

function refused(refusal: Refusal | undefined, value: unknown): Refusal | null {
  return refusal && isAskedFor(value) && !refusal.except?.(value) ? refusal : null;
}

/** The path begins with what follows the holder's name: `[2].content` or `.ttl`. */
function findInValue(rules: Rules, value: unknown, holder: string): Found | null {
  if (Array.isArray(value)) {
    for (const [index, element] of value.entries()) {
      const found = typeof element === 'object' && element !== null ? findInValue(rules, element, holder) : null;
      if (found) return { path: `[${index}]${found.path}`, refusal: found.refusal };
    }
    return null;
  }
  const found = isObject(value) ? findRefused(rules, value, { holder, isRoot: false }) : null;
  return found && { path: `.${found.path}`, refusal: found.refusal };
}
