// Collects a plan: what comes and what stays, with providers, models and aliases under names that
// a `tollgate.yaml` takes.
import { Document } from 'yaml';
import { reservedProviderName } from '../../config/known-providers.ts';
import { modelNamePattern } from '../../config/model-schema.ts';
import { zeroMicros } from '../../lib/money.ts';
import type { ModelType } from '../../terms/model-type.ts';
import type {
  Fragment,
  ImportPlan,
  Line,
  PlannedAccount,
  PlannedKey,
  PlannedModel,
  PlannedPrices,
  PlannedProvider,
  PlannedUser,
} from './plan.ts';

/** The id of a model of the catalogue, from its id or another of its names; null: unknown. */
export type ResolveModel = (name: string) => string | null;

type Found<Planned extends Line> = Partial<Planned> & {
  /** Why it stays; empty: it comes. */
  readonly stays?: readonly string[];
  readonly isOff?: boolean;
};

const modelName = new RegExp(modelNamePattern);
/** Names of accounts and keys have at most 200 characters. */
const nameMax = 200;

export class PlanDraft {
  readonly #resolve: ResolveModel;
  readonly #accounts: PlannedAccount[] = [];
  readonly #keys: PlannedKey[] = [];
  readonly #users: PlannedUser[] = [];
  readonly #others: Line[] = [];
  readonly #providers = new Map<string, Fragment['providers'][string]>();
  /** The names of providers, by what they are. */
  readonly #sameProviders = new Map<string, string>();
  readonly #models = new Map<string, PlannedModel>();
  readonly #aliases = new Map<string, string>();
  readonly #whyUnpriced = new Map<string, string>();

  constructor(resolve: ResolveModel) {
    this.#resolve = resolve;
  }

  account(found: Found<PlannedAccount> & Pick<PlannedAccount, 'sourceId'>): void {
    const usual = { balanceMicros: zeroMicros, priceMultiplierPpm: 1_000_000 };
    this.#accounts.push({ ...usual, ...lineOf('account', found) });
  }

  /** `models`: names there, of which some may not be here yet; null: all. False: it stays. */
  key(
    found: Found<PlannedKey> & Pick<PlannedKey, 'account' | 'hint' | 'sourceId' | 'text'>,
  ): boolean {
    const names = found.models ?? null;
    const unknown = (names ?? []).filter((name) => this.idOf(name) === null);
    const lost = unknown.map((name) => `the model ${name} is not here yet`);
    this.#keys.push({
      ...lineOf('key', { ...found, notes: [...(found.notes ?? []), ...lost] }),
      models: names && [...new Set(names.map((name) => this.idOf(name) ?? name))],
    });
    return this.#keys.at(-1)!.result !== 'stays';
  }

  user(found: Found<PlannedUser> & Omit<PlannedUser, keyof Line>): void {
    const stays = found.email === '' ? ['it has no e-mail address'] : [];
    const notes = [`${found.role} of ${found.account}; the password stays, so invite them`];
    this.#users.push(lineOf('user', { ...found, stays, notes }));
  }

  note(kind: Line['kind'], name: string, ...stays: readonly string[]): void {
    this.#others.push(lineOf(kind, { name, stays }));
  }

  /** Notes something without a counterpart. */
  loses(what: string, why: string): void {
    this.note('other', what, why);
  }

  /** Adds a provider and its further keys, or finds an equal one. Returns its name here. */
  provider(wish: string, provider: PlannedProvider, furtherKeys: readonly string[] = []): string {
    const text = JSON.stringify([provider, furtherKeys]);
    const same = this.#sameProviders.get(text);
    if (same !== undefined) return same;
    const name = this.#add(wish, provider, `${provider.kind} at ${provider.base_url}`);
    for (const key of furtherKeys)
      this.#add(wish, { credential_of: name, api_key: key }, `a further key of ${name}`);
    this.#sameProviders.set(text, name);
    return name;
  }

  #add(wish: string, provider: Fragment['providers'][string], note: string): string {
    const slug = wish
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replace(/^-/, '');
    const stem = slug.slice(0, 34).replace(/-$/, '') || 'provider';
    let name = stem;
    for (let count = 2; this.#providers.has(name) || name === reservedProviderName; count += 1)
      name = `${stem}-${count}`;
    this.#providers.set(name, provider);
    this.#comes('provider', name, note);
    return name;
  }

  route(model: string, route: PlannedModel['routes'][number], type: ModelType = 'chat'): void {
    if (!modelName.test(model))
      return this.note('model', model, 'its name has characters that no model has here');
    if (this.#aliases.delete(model)) this.note('alias', model, 'a model has this name after all');
    const entry = this.#models.get(model);
    // A model of the catalogue has its type there.
    const typed = type !== 'chat' && this.#resolve(model) !== model && { type };
    this.#models.set(model, { ...typed, ...entry, routes: [...(entry?.routes ?? []), route] });
  }

  /** `prices`: in USD for a million tokens, or why there are none. */
  price(model: string, prices: PlannedPrices | string): void {
    const entry = this.#models.get(model);
    if (typeof prices === 'string') this.#whyUnpriced.set(model, prices);
    else if (entry) this.#models.set(model, { ...entry, prices });
  }

  alias(alias: string, target: string): void {
    const [id, other] = [this.idOf(target), this.#aliases.get(alias)];
    if (alias === id || (other !== undefined && other === id)) return;
    if (id === null) this.note('alias', alias, `it stands for ${target}, which is no model here`);
    else if (other !== undefined)
      this.note('alias', alias, `it stands for ${other} already: an alias is for all accounts`);
    else if (!modelName.test(alias) || this.idOf(alias) === alias)
      this.note('alias', alias, 'a model has this name, or none may have it');
    else {
      this.#aliases.set(alias, id);
      this.#comes('alias', alias, `→ ${id}, for all accounts`);
    }
  }

  /** Returns a model's id, from any of its names; null: there is no such model. */
  idOf(name: string): string | null {
    return this.#models.has(name) ? name : (this.#aliases.get(name) ?? this.#resolve(name));
  }

  modelNames(): readonly string[] {
    return [...this.#models.keys()];
  }

  finish(): ImportPlan {
    for (const [id, { prices, routes }] of this.#models) {
      const isPriced = prices !== undefined || this.#resolve(id) === id;
      const why = this.#whyUnpriced.get(id) ?? 'none is set there';
      const at = `at ${routes.map(({ provider }) => provider).join(', ')}`;
      this.#comes(
        'model',
        id,
        isPriced ? at : `${at}; no price (${why}): set it, or it never runs`,
      );
    }
    const fragment = {
      providers: Object.fromEntries(this.#providers),
      models: Object.fromEntries(this.#models),
      aliases: Object.fromEntries(this.#aliases),
    };
    const [accounts, keys, users] = [this.#accounts, this.#keys, this.#users];
    return { accounts, keys, users, fragment, others: this.#others };
  }

  #comes(kind: Line['kind'], name: string, note: string): void {
    this.#others.push({ kind, name, result: 'comes', notes: [note] });
  }
}

function lineOf<Given extends Found<Line>>(
  kind: Line['kind'],
  found: Given,
): Omit<Given, 'stays' | 'isOff' | 'name' | 'notes'> & Line {
  const { stays = [], isOff = false, name = '', notes = [], ...rest } = found;
  const result = stays.length > 0 ? 'stays' : isOff ? 'disabled' : 'comes';
  const line = { kind, name: name.replaceAll('\0', '').trim().slice(0, nameMax), result } as const;
  return { ...rest, ...line, notes: stays.length > 0 ? stays : notes };
}

/** Returns the notes whose condition holds. */
export function notesOf(conditions: Readonly<Record<string, boolean | undefined>>): string[] {
  return Object.keys(conditions).filter((note) => conditions[note]);
}

/** Returns a key as a value of the file, where `${` begins a variable. */
export function literalKey(key: string): string {
  return key.replaceAll('${', '$${');
}

export function fragmentText(fragment: Fragment, source: string): string {
  const parts = Object.entries(fragment).filter(([, part]) => Object.keys(part).length > 0);
  const document = new Document(Object.fromEntries(parts));
  document.commentBefore = ` Providers, models and aliases from ${source}, for your tollgate.yaml.`;
  return document.toString({ lineWidth: 0 });
}
