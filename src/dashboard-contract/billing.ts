// An account's balance, payments and warnings.
import { Type } from 'typebox';
import { Mode, PageQuery, type Page } from './common.ts';
import { endpoint } from './endpoint.ts';

type BillingOverview = {
  readonly posted_micros: number;
  /** By running requests. */
  readonly held_micros: number;
  /** The spendable balance: posted less held. Below 0 only after a debit or a dispute. */
  readonly available_micros: number;
  /** How owners pay in by card; null: not here. Only the live balance is paid into. */
  readonly top_up: {
    readonly min_micros: number;
    readonly max_micros: number;
    readonly choices_micros: readonly number[];
    /** Paid on top of the credit: so many millionths of it, rounded up to a whole cent, and a fixed part. */
    readonly fee: { readonly ppm: number; readonly fixed_micros: number };
  } | null;
  /** An e-mail address, a web address or words: whom to ask for credit. null: whoever runs the service. */
  readonly contact: string | null;
  readonly low_balance: {
    /** Owners are told by e-mail when the live balance goes below it; null: they are not. */
    readonly threshold_micros: number | null;
    /** True when this gateway can send e-mail. */
    readonly can_mail: boolean;
  };
};

type TopUp = {
  readonly id: string;
  readonly amount_micros: number;
  /** `processing`: promised, as a bank transfer is. `paid`: it is in the balance. */
  readonly state: 'open' | 'processing' | 'failed' | 'expired' | 'paid';
  readonly created_at: string;
};

/** One line of an account's statement. All lines add up to the posted balance. */
export type StatementLine =
  | {
      readonly kind: 'credit' | 'debit';
      readonly id: string;
      /** Below 0 for a debit. */
      readonly amount_micros: number;
      readonly note: string | null;
      /** The spendable balance right after it. */
      readonly available_micros: number;
      readonly created_at: string;
    }
  /** All charges of a UTC day. */
  | {
      readonly kind: 'charges';
      readonly day: string;
      readonly requests: number;
      readonly amount_micros: number;
    };

/** Created by the client, one for each action. Repeated calls with the same value act once. */
export const RequestId = Type.String({ pattern: '^[A-Za-z0-9_-]{8,64}$' });

/** At most a billion dollars; more is a typing error. */
export const Amount = Type.Integer({ minimum: 1, maximum: 1e15 });

export const billingEndpoints = {
  'GET /accounts/:account/billing': endpoint<BillingOverview>()({
    access: 'member',
    query: Type.Object({ mode: Mode }),
  }),
  /** Newest first. */
  'GET /accounts/:account/statement': endpoint<Page<StatementLine>>()({
    access: 'member',
    query: Type.Object({ ...PageQuery, mode: Mode }),
  }),
  /** Leads to Stripe; the customer comes back to `/billing?account=…&top_up=…`. Whole cents. */
  'POST /accounts/:account/top-ups': endpoint<{
    readonly id: string;
    readonly checkout_url: string;
  }>()({
    access: 'owner',
    body: Type.Object({ request_id: RequestId, amount_micros: Amount }),
  }),
  'GET /accounts/:account/top-ups/:topUp': endpoint<TopUp>()({ access: 'member' }),
  /** null: no warning. */
  'PATCH /accounts/:account/low-balance': endpoint<{ readonly threshold_micros: number | null }>()({
    access: 'owner',
    body: Type.Object({ threshold_micros: Type.Union([Amount, Type.Null()]) }),
  }),
};
