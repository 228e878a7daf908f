// By which routes a request may be served, one after the other, and the most that it can cost by any of them: one hold covers whichever
// serves. Each route is sent a request of its own, written when its turn comes.
import { ApiError } from '../canonical/errors.ts';
import type { AppliedPrice, PriceFactor } from '../catalog/price.ts';
import type { Hold } from './hold.ts';
import type { ChosenRoute } from './route.ts';
import {
  dearestOf,
  findCandidates,
  inOrderOfTrial,
  priceWith,
  refuseLacking,
  type Candidate,
  type Dearest,
} from './route-candidates.ts';
import type { Asked } from './running.ts';
import type { AskedSearch } from './search.ts';
import { writeUpstreamRequest, type WrittenRequest } from './upstream-request.ts';

/** What one route is asked, and what it is paid for. */
export type Attempt = {
  readonly route: ChosenRoute;
  readonly price: AppliedPrice;
  /** null: the provider runs none. */
  readonly search: AskedSearch | null;
  readonly written: WrittenRequest;
};

export type PlanOptions = {
  /** Of the model, those that are switched on. */
  readonly routes: readonly ChosenRoute[];
  readonly tokenPrice: AppliedPrice;
  readonly factor: PriceFactor;
};

export class RoutePlan {
  /** What is to be held. */
  readonly dearest: Dearest;
  readonly #asked: Asked;
  readonly #tokenPrice: AppliedPrice;
  readonly #candidates: readonly Candidate[];
  readonly #written = new Map<Candidate, WrittenRequest | ApiError>();
  readonly #queue: Candidate[];
  readonly #first: Candidate;
  #ignoredByFirst: ReadonlySet<string> | null = null;

  /** Throws the ApiError of the first route when no route can serve the request. */
  constructor(asked: Asked, { routes, tokenPrice, factor }: PlanOptions) {
    this.#asked = asked;
    this.#tokenPrice = tokenPrice;
    this.#candidates = findCandidates(asked, routes, factor);
    this.dearest = dearestOf(this.#candidates, tokenPrice);
    this.#queue = inOrderOfTrial(asked, this.#candidates);
    this.#first = this.#shift() ?? this.#refuse();
  }

  /** The route to begin with, and its request as it is when all of it can be held. */
  get first(): Attempt {
    return this.#attemptBy(this.#first, null);
  }

  /** The first route again, with a request that fits the hold. */
  begin(hold: Hold): Attempt {
    return this.#attemptBy(this.#first, hold);
  }

  /** The next route; null: no other can serve the request as well. */
  next(hold: Hold): Attempt | null {
    const candidate = this.#shift();
    return candidate?.standing === this.#first.standing ? this.#attemptBy(candidate, hold) : null;
  }

  #shift(): Candidate | null {
    for (let candidate = this.#queue.shift(); candidate; candidate = this.#queue.shift()) {
      const written = this.#write(candidate);
      if (!(written instanceof ApiError) && this.#losesNothing(written)) return candidate;
    }
    return null;
  }

  /**
   * A Messages request carries what only its vendor understands, such as signed thoughts: it is sent to another route only if that leaves
   * out nothing that the first one would be sent.
   */
  #losesNothing({ ignored }: WrittenRequest): boolean {
    if (this.#asked.format.name !== 'messages' || this.#candidates.length === 1) return true;
    this.#ignoredByFirst ??= this.#findIgnoredByFirst();
    return ignored.every((name) => this.#ignoredByFirst!.has(name));
  }

  /** The first of those that have room for the request, whether it is in use or not. */
  #findIgnoredByFirst(): ReadonlySet<string> {
    const isRoomy = ({ standing }: Candidate) => standing !== 'too-small';
    const inOrder = [...this.#candidates.filter(isRoomy), ...this.#candidates.filter((candidate) => !isRoomy(candidate))];
    for (const candidate of inOrder) {
      const written = this.#write(candidate);
      if (!(written instanceof ApiError)) return new Set(written.ignored);
    }
    return new Set();
  }

  /** Rewritten where the hold has room for less than was asked for. */
  #attemptBy(candidate: Candidate, hold: Hold | null): Attempt {
    const search = searchUnder(hold, candidate.search);
    const outputTokens = hold?.isReduced ? hold.maxOutputTokens : candidate.outputTokens;
    const isWhole = search === candidate.search && outputTokens === candidate.outputTokens;
    const written = isWhole ? this.#write(candidate) : tryToWrite(this.#asked, { ...candidate, search, outputTokens });
    if (written instanceof ApiError) throw written;
    return { route: candidate.route, price: priceWith(this.#tokenPrice, search), search, written };
  }

  #write(candidate: Candidate): WrittenRequest | ApiError {
    let written = this.#written.get(candidate);
    if (!written) this.#written.set(candidate, (written = tryToWrite(this.#asked, candidate)));
    return written;
  }

  #refuse(): never {
    throw this.#candidates.map((candidate) => this.#write(candidate)).find((written) => written instanceof ApiError);
  }
}

/** The ApiError when the route cannot serve the request. */
function tryToWrite(asked: Asked, candidate: Candidate): WrittenRequest | ApiError {
  try {
    refuseLacking(asked, candidate.route);
    return writeUpstreamRequest(asked, candidate);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/** Fewer searches may have been held for than were asked for. */
function searchUnder(hold: Hold | null, search: AskedSearch | null): AskedSearch | null {
  if (!search || !hold?.search || search.searchesMax <= hold.search.searchesMax) return search;
  return { ...search, searchesMax: hold.search.searchesMax, mayBeFewer: false };
}
