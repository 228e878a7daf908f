// The events that accounts' owners and operators are told of, in one table: who may hear of each, its
// data, and its sentence for people. docs/webhooks.md lists them, and a test compares the two.
import { type Static, type TProperties, type TObject, Type } from 'typebox';
import { formatUsd, micros } from '../lib/money.ts';
import { orNull } from '../lib/schema-parts.ts';
import { type CardProblem, cardProblems } from './card-problem.ts';

type EventTerms<Fields extends TProperties> = {
  readonly heardBy: readonly ('accounts' | 'operators')[];
  /** When it happens, for the list of types. */
  readonly when: string;
  /** The subject of an e-mail. */
  readonly title: string;
  readonly data: TObject<Fields>;
  readonly say: (data: Static<TObject<Fields>>) => string;
  /** The dashboard's page that shows more. */
  readonly page: string;
};

function event<Fields extends TProperties>(
  heardBy: EventTerms<Fields>['heardBy'],
  fields: Fields,
  words: Pick<EventTerms<Fields>, 'when' | 'title' | 'say' | 'page'>,
): EventTerms<Fields> {
  return { heardBy, data: Type.Object(fields, { additionalProperties: false }), ...words };
}

const Micros = Type.Integer({ description: 'Microdollars: 1000000 is one dollar.' });
const Time = Type.String({ description: 'ISO 8601, in UTC.' });
const account = {
  account_id: Type.String(),
  account_name: Type.String(),
};
const payment = {
  account_id: Type.String(),
  payment_id: Type.String(),
  amount_micros: Type.Integer({ description: 'The change of the balance, in microdollars.' }),
};
const route = { provider: Type.String(), model: Type.String() };
const both = ['accounts', 'operators'] as const;

const usd = (amount: number) => `$${formatUsd(micros(amount))}`;
const change = (amount: number) => `${amount < 0 ? '-' : '+'}${usd(Math.abs(amount))}`;

/** In the place of an account: endpoints of the operators themselves. */
export const operatorsPlace = 'operators';

export const alertEvents = {
  'balance.low': event(
    ['accounts'],
    { ...account, balance_micros: Micros, threshold_micros: Micros },
    {
      when: 'The live balance falls below one of the amounts that an owner has set.',
      title: 'The balance is low',
      say: (of) =>
        `The balance of ${of.account_name} is ${usd(of.balance_micros)}, below the ${usd(of.threshold_micros)} at which you asked for a warning. When it is used up, requests are refused.`,
      page: '/billing',
    },
  ),
  'cap.reached': event(
    ['accounts'],
    {
      ...account,
      of: Type.Enum(['key', 'member']),
      id: Type.String(),
      name: Type.String(),
      window: Type.Enum(['day', 'month']),
      percent: Type.Enum([50, 80, 100]),
      cap_micros: Micros,
      spent_micros: Micros,
      starts_on: Type.String({ description: 'The UTC day or month: `2026-11-28`, `2026-11`.' }),
    },
    {
      when: 'A live key or a member has spent 50, 80 or 100 % of a daily or monthly cap.',
      title: 'A cap is being used up',
      say: (of) =>
        `The ${of.of} ${of.name} of ${of.account_name} has spent ${usd(of.spent_micros)} of ${usd(of.cap_micros)} for the ${of.window} ${of.starts_on}: ${of.percent} % of its cap.`,
      page: '/keys',
    },
  ),
  'payment.received': event(both, payment, {
    when: 'A payment by card is credited.',
    title: 'A payment was received',
    say: (of) => `The payment ${of.payment_id} is credited: ${change(of.amount_micros)}.`,
    page: '/billing',
  }),
  'payment.refunded': event(both, payment, {
    when: 'A payment is refunded, or a refund fails.',
    title: 'A payment was refunded',
    say: (of) => `A refund of the payment ${of.payment_id} is booked: ${change(of.amount_micros)}.`,
    page: '/billing',
  }),
  'payment.disputed': event(both, payment, {
    when: 'A payment is disputed, or a dispute ends.',
    title: 'A payment is disputed',
    say: (of) =>
      `A dispute of the payment ${of.payment_id} is booked: ${change(of.amount_micros)}.`,
    page: '/billing',
  }),
  'auto_top_up.failed': event(
    ['accounts'],
    {
      ...account,
      top_up_id: Type.String(),
      amount_micros: Type.Integer({ description: 'Of the credit, in microdollars.' }),
      reason: Type.Enum(Object.keys(cardProblems) as CardProblem[]),
    },
    {
      when: 'An automatic top-up was not paid, or a payment by card was refunded or disputed. Automatic top-ups are paused until an owner acts.',
      title: 'Automatic top-ups are paused',
      say: (of) => {
        const what =
          of.reason === 'returned'
            ? `Automatic top-ups for ${of.account_name} are paused`
            : `The automatic top-up of ${usd(of.amount_micros)} for ${of.account_name} failed`;
        return `${what}: ${cardProblems[of.reason]}. No card is charged until an owner saves one or turns it on again.`;
      },
      page: '/billing',
    },
  ),
  'auto_top_up.ceiling_reached': event(
    ['accounts'],
    { ...account, ceiling_micros: Micros, month: Type.String({ description: '`2026-11`' }) },
    {
      when: 'The balance is low, and another automatic top-up would exceed the ceiling of the month: told once a month.',
      title: 'Automatic top-ups have reached their ceiling',
      say: (of) =>
        `The balance of ${of.account_name} is low, but another automatic top-up would exceed the ceiling of ${usd(of.ceiling_micros)} in ${of.month}. Top up by hand, or raise the ceiling.`,
      page: '/billing',
    },
  ),
  'losses.exceeded': event(
    both,
    { ...account, lost_micros: Micros, budget_micros: Micros, resets_at: Time },
    {
      when: 'An account has cost more that nobody paid than its loss budget allows.',
      title: 'A loss budget is exceeded',
      say: (of) =>
        `Requests of ${of.account_name} have cost ${usd(of.lost_micros)} that nobody paid. Its loss budget is ${usd(of.budget_micros)}, so its new live requests are refused until ${of.resets_at} at the latest.`,
      page: '/',
    },
  ),
  'spend.anomaly': event(
    both,
    { ...account, hour: Time, spent_micros: Micros, usual_micros: Micros },
    {
      when: 'An account spends in an hour ten times the hourly mean of the week before, and more than in any hour of it (if it spent nothing in the first five days of that week, in any hour before).',
      title: 'Spending is unusually high',
      say: (of) =>
        `${of.account_name} has spent ${usd(of.spent_micros)} in the hour from ${of.hour}. In the week before, it was ${usd(of.usual_micros)} an hour.`,
      page: '/analytics',
    },
  ),
  'model.ends': event(
    both,
    {
      model: Type.String(),
      ends_at: Time,
      successor: orNull(Type.String()),
    },
    {
      when: 'A model on sale ends within 30 days.',
      title: 'A model ends soon',
      say: (of) =>
        `The model ${of.model} ends on ${of.ends_at.slice(0, 10)}.${of.successor === null ? '' : ` Its provider names ${of.successor} as the successor.`}`,
      page: '/models',
    },
  ),
  'route.out_of_use': event(
    ['operators'],
    { ...route, until: Time },
    {
      when: 'A route failed several times in a row: it is called only when no other route works.',
      title: 'A route is out of use',
      say: (of) =>
        `The route ${of.provider} / ${of.model} failed several times in a row. It is called only when no other route works, until ${of.until} at least.`,
      page: '/operator/providers',
    },
  ),
  'credential.refused': event(['operators'], route, {
    when: "A provider refuses the operator's credential, or asks for payment.",
    title: 'A provider refuses its credential',
    say: (of) =>
      `${of.provider} refused the credential of this gateway for ${of.model}, or asks for payment. Check the key and the balance there.`,
    page: '/operator/providers',
  }),
  'own_key.refused': event(
    ['accounts'],
    {
      account_id: Type.String(),
      provider: Type.String(),
      own_key_id: Type.String(),
      shown_end: Type.String({ description: 'The last characters of the key.' }),
      status: Type.Integer({ description: "The HTTP status of the provider's answer." }),
    },
    {
      when: "A provider refuses the account's own key, or asks for payment: told once an hour. Other routes go on.",
      title: 'A provider refuses your key',
      say: (of) =>
        `${of.provider} refused your own key that ends in ${of.shown_end} (HTTP ${of.status}), or asks for payment. Requests take other routes meanwhile, at their price. Replace the key, or check your balance there.`,
      page: '/settings',
    },
  ),
  'books.not_writable': event(
    ['operators'],
    { since: Time },
    {
      when: 'The ledger cannot be written, so new live requests are refused.',
      title: 'The books cannot be written',
      say: (of) =>
        `The ledger cannot be written since ${of.since}: the database is away, or its disk is full. New requests are refused until it can.`,
      page: '/operator/providers',
    },
  ),
  'backup.overdue': event(
    ['operators'],
    { last_backup_at: orNull(Time), days: Type.Integer() },
    {
      when: 'The last recorded backup is more than seven days old, once a week.',
      title: 'A backup is overdue',
      say: (of) =>
        of.last_backup_at === null
          ? 'No backup of this installation was recorded yet.'
          : `The last backup of this installation is ${of.days} days old.`,
      page: '/operator',
    },
  ),
  test: event(
    both,
    { endpoint_id: Type.String() },
    {
      when: 'Somebody pressed "Send test". Every endpoint gets it.',
      title: 'A test event',
      say: () => 'This is a test event. Nothing happened.',
      page: '/alerts',
    },
  ),
};

export type AlertType = keyof typeof alertEvents;
type AlertData<Type extends AlertType> = Static<(typeof alertEvents)[Type]['data']>;

/** An event of each type, with its data. */
export type AlertEvent = {
  readonly [Name in AlertType]: { readonly type: Name; readonly data: AlertData<Name> };
}[AlertType];

/** The types that an endpoint may name, in the order of the table. */
export function typesHeardBy(whom: 'accounts' | 'operators'): readonly AlertType[] {
  return (Object.keys(alertEvents) as AlertType[]).filter(
    (type) => type !== 'test' && alertEvents[type].heardBy.includes(whom),
  );
}

/** Returns the words of an event for people. `data` is what was stored for it. */
export function wordsOf(type: AlertType, data: unknown) {
  const { title, page, say } = alertEvents[type] as unknown as EventTerms<TProperties>;
  return { title, page, sentence: say(data as never) };
}
