// Plans the routes of a request and the most that it can cost on any of them: one hold covers
// whichever serves. Each route gets a request of its own, written when its turn comes.
import { ApiError } from '../../canonical/errors.ts';
import {
  atCost,
  ownKeyPrice,
  type AppliedPrice,
  type PriceFactor,
} from '../../domain/catalog/price.ts';
import type { ChosenRoute } from './route.ts';
import {
  byTools,
  highestOf,
  findCandidates,
  inOrderOfTrial,
  priceWith,
  refuseLacking,
  type Candidate,
  type HighestTerms,
} from './candidates.ts';
import { withOneEach, type AskedTools } from './asked-tools.ts';
import { writeUpstreamRequest, type ModelRequest, type WrittenRequest } from './write-request.ts';

/** What a request may use under its hold. */
export type Allowance = {
  /** The output limit to send upstream. */
  readonly maxOutputTokens: number;
  /** Lower than the model's maximum, because more was not affordable. */
  readonly isReduced: boolean;
  /** The tools to send: as asked for, or a single search and image when more did not fit. */
  readonly tools: AskedTools | null;
};

/** The request to one route, and its price. */
export type Attempt = {
  readonly route: ChosenRoute;
  readonly price: AppliedPrice;
  /** null: the provider runs none. */
  readonly tools: AskedTools | null;
  readonly written: WrittenRequest;
  /** The body of the 400 whose subject `written` leaves out; left out: it has everything. */
  readonly refusal?: unknown;
};

type PlanOptions = {
  readonly routes: readonly ChosenRoute[];
  readonly tokenPrice: AppliedPrice;
  readonly factor: PriceFactor;
};

export class RoutePlan {
  /** The price and limits to hold for: the highest of all routes. */
  readonly highest: HighestTerms;
  readonly #asked: ModelRequest;
  readonly #tokenPrice: AppliedPrice;
  readonly #candidates: readonly Candidate[];
  readonly #written = new Map<Candidate, WrittenRequest | ApiError>();
  readonly #queue: Candidate[];
  readonly #first: Candidate;
  #ignoredByFirst: ReadonlySet<string> | null = null;

  /** Throws the ApiError of the first route when no route accepts the request. */
  constructor(asked: ModelRequest, { routes, tokenPrice, factor }: PlanOptions) {
    this.#asked = asked;
    this.#tokenPrice = tokenPrice;
    this.#candidates = findCandidates(asked, routes, factor);
    this.highest = highestOf(this.#candidates, tokenPrice);
    this.#queue = inOrderOfTrial(asked, this.#candidates);
    this.#first = this.#shift() ?? this.#refuse();
  }

  get firstRoute(): ChosenRoute {
    return this.#first.route;
  }

  /** True when a route of a better rank is out of use: even the first route is then a fallback. */
  get beginsWithFallback(): boolean {
    const { rank } = this.#first.route;
    return this.#candidates.some(
      ({ condition, route }) => condition === 'out-of-use' && route.rank < rank,
    );
  }

  /** Returns how many routes of its rank could have served the request, itself among them. */
  routesBeside({ rank }: ChosenRoute): number {
    return this.#candidates.filter(({ route }) => route.rank === rank).length;
  }

  /** The first route, with a request that fits the hold. */
  begin(granted: Allowance): Attempt {
    return this.#attemptBy(this.#first, granted);
  }

  /** Returns the next route; null when no other serves the request equally well. */
  next(granted: Allowance): Attempt | null {
    const candidate = this.#shift();
    return candidate?.condition === this.#first.condition
      ? this.#attemptBy(candidate, granted)
      : null;
  }

  #shift(): Candidate | null {
    for (let candidate = this.#queue.shift(); candidate; candidate = this.#queue.shift()) {
      const written = this.#write(candidate);
      if (!(written instanceof ApiError) && this.#losesNothing(written)) return candidate;
    }
    return null;
  }

  /**
   * Returns true when the route is sent everything that the first would be. Messages requests carry
   * data that only their vendor understands, such as signed thoughts, and code runs at its vendor only.
   */
  #losesNothing({ ignored }: WrittenRequest): boolean {
    const isBound = this.#asked.format.name === 'messages' || this.highest.tools?.readings;
    if (!isBound || this.#candidates.length === 1) return true;
    this.#ignoredByFirst ??= this.#findIgnoredByFirst();
    return ignored.every((name) => this.#ignoredByFirst!.has(name));
  }

  /**
   * Returns the fields that the first usable route ignores. Routes with room come first, in use or
   * not.
   */
  #findIgnoredByFirst(): ReadonlySet<string> {
    const isFull = ({ condition }: Candidate) => Number(condition === 'too-small');
    const inOrder = this.#candidates.toSorted(
      (one, other) => isFull(one) - isFull(other) || byTools(one, other),
    );
    for (const candidate of inOrder) {
      const written = this.#write(candidate);
      if (!(written instanceof ApiError)) return new Set(written.ignored);
    }
    return new Set();
  }

  /**
   * Makes the attempt on a route. The request is written again when the hold covers less than was
   * asked for.
   */
  #attemptBy(candidate: Candidate, granted: Allowance): Attempt {
    const tools = toolsUnder(granted, candidate.tools);
    const outputTokens = granted.isReduced ? granted.maxOutputTokens : candidate.outputTokens;
    const isWhole = tools === candidate.tools && outputTokens === candidate.outputTokens;
    const written = isWhole
      ? this.#write(candidate)
      : tryToWrite(this.#asked, { ...candidate, tools, outputTokens });
    if (written instanceof ApiError) throw written;
    return { route: candidate.route, price: this.#priceOf(candidate, tools), tools, written };
  }

  #priceOf({ route }: Candidate, tools: AskedTools | null): AppliedPrice {
    const price = priceWith(atCost(this.#tokenPrice, route.costPpm), tools);
    const isOwnSearch = tools?.own !== undefined;
    return route.name.ownKeyId === undefined ? price : ownKeyPrice(price, { isOwnSearch });
  }

  #write(candidate: Candidate): WrittenRequest | ApiError {
    let written = this.#written.get(candidate);
    if (!written) this.#written.set(candidate, (written = tryToWrite(this.#asked, candidate)));
    return written;
  }

  #refuse(): never {
    throw this.#candidates
      .map((candidate) => this.#write(candidate))
      .find((written) => written instanceof ApiError);
  }
}

/** Returns the ApiError when the route cannot serve the request. */
function tryToWrite(asked: ModelRequest, candidate: Candidate): WrittenRequest | ApiError {
  try {
    refuseLacking(asked, candidate.route);
    return writeUpstreamRequest(asked, candidate);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/** Returns the tools to send: the hold may cover fewer searches and images than were asked for. */
function toolsUnder({ tools: granted }: Allowance, tools: AskedTools | null): AskedTools | null {
  const isWhole = !tools?.mayBeFewer || !granted || granted.mayBeFewer;
  return isWhole ? tools : withOneEach(tools);
}
