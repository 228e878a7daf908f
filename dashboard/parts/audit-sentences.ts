// What an audit entry says, in words. `{it}` stands for the thing, which is linked where it exists.
import type { AuditAction } from '../../src/management/contract/audit-log.ts';
import type { Output } from '../api/client.ts';
import { changesOf } from './audit-changes.ts';
import { usdText } from './money-text.ts';

export type Entry = Output<'GET /operator/audit-log'>['data'][number];

type Fields = Readonly<Record<string, unknown>>;
/** Of the fields after and before the change, and the entry. */
type Sentence = string | ((after: Fields, before: Fields, entry: Entry) => string);

const text = (value: unknown) => (typeof value === 'string' ? value : '');
/** Members do not see all fields of an operator's change. */
const usd = (value: unknown) =>
  typeof value === 'number' ? usdText(Math.abs(value)) : 'an amount';
const sourceOf = ({ source }: Fields) => (source === undefined ? '' : ` from ${text(source)}`);
const play = ({ mode }: Fields) => (mode === 'test' ? ' of play money' : '');
const switched = (isOn: boolean) => (isOn ? 'on' : 'off');
const nameOf = ({ names }: Entry, id: unknown) => names[text(id)] || text(id);

/** Each completes the name of who did it. */
export const sentences: Readonly<Record<AuditAction, Sentence>> = {
  'account.create': 'created the account {it}',
  'account.update': ({ frozen }) =>
    frozen === undefined
      ? 'changed the account {it}'
      : `${frozen === true ? 'froze' : 'unfroze'} the account {it}`,
  'account.purge': 'erased the stored answers of {it}',
  'account.forgive-losses': ({ forgiven_loss_micros: lost }) =>
    lost === undefined ? 'forgave losses of {it}' : `forgave {it} losses of ${usd(lost)}`,
  'account.low-balance': 'changed the balances at which {it} is warned',
  'account.credit': (after) => `credited ${usd(after['amount_micros'])}${play(after)} to {it}`,
  'account.debit': (after) => `debited ${usd(after['amount_micros'])}${play(after)} from {it}`,
  'account.import': (after) => `imported the account {it}${sourceOf(after)}`,
  'account.telemetry': 'changed where {it} exports its traces',
  'account.read-requests': 'looked at the requests of {it}',
  'account.read-bodies': 'read the bodies of the request {it}',
  'key.create': 'created the key {it}',
  'key.update': 'changed the key {it}',
  'key.rotate': 'replaced the text of the key {it}',
  'key.assign': ({ owner }, _before, entry) =>
    owner === null
      ? 'took the key {it} from its owner'
      : `gave the key {it} to ${nameOf(entry, owner)}`,
  'key.import': (after) => `imported the key {it}${sourceOf(after)}`,
  'key.disable': 'turned off the key {it}',
  'key.enable': 'turned on the key {it}',
  'key.revoke': 'revoked the key {it}',
  'payment.receive': ({ delta_micros: delta }) =>
    Number(delta) < 0
      ? `took back a payment of ${usd(delta)}`
      : `received a payment of ${usd(delta)}`,
  'payment.refund': ({ delta_micros: delta }) =>
    Number(delta) > 0 ? `took back a refund of ${usd(delta)}` : `refunded ${usd(delta)}`,
  'payment.dispute': ({ delta_micros: delta }) =>
    Number(delta) > 0 ? `gave back a disputed ${usd(delta)}` : `withheld a disputed ${usd(delta)}`,
  'payment.assign': 'credited the payment {it} to an account',
  'payment.dismiss': 'dismissed the payment {it}',
  'top-up.start': ({ amount_micros: amount }) => `started a top-up of ${usd(amount)}`,
  'auto-top-up.update': ({ threshold_micros: threshold }) =>
    threshold === null ? 'turned the automatic top-up off' : 'set the automatic top-up',
  'auto-top-up.start-card': 'went to Stripe to save a card',
  'auto-top-up.save-card': ({ last4 }) => `saved the card ending in ${text(last4)}`,
  'auto-top-up.remove-card': (_after, { last4 }) => `removed the card ending in ${text(last4)}`,
  'auto-top-up.pause': ({ problem }) => `paused itself (${text(problem)})`,
  'member.join': ({ role }) => `added {it} as ${text(role)}`,
  'member.update': ({ role }, before) =>
    `made {it} ${text(role)} instead of ${text(before['role'])}`,
  'member.remove': 'removed the member {it}',
  'member.leave': 'left the account',
  'member.budget': 'changed the budget of {it}',
  'invitation.create': ({ email, role }) => `invited ${text(email)} as ${text(role)}`,
  'invitation.withdraw': (_after, { email }) => `withdrew the invitation of ${text(email)}`,
  'user.sign-up': 'signed up',
  'user.first-run': 'became the first user and operator',
  'user.first-run-link': 'made a link for the first user',
  'user.reset-link': ({ passkeys_removed: removed }) =>
    `made a link for a new password of {it}${removed === undefined ? '' : ', without second factor and passkeys'}`,
  'user.password': 'changed their password',
  'user.password-reset': 'chose a new password by a link',
  'user.email': (after, before) =>
    `changed their address from ${text(before['email'])} to ${text(after['email'])}`,
  'user.verify-email': ({ email }) => `confirmed the address ${text(email)}`,
  'user.update': (after, before) =>
    `changed their name from ${text(before['name'])} to ${text(after['name'])}`,
  'user.second-factor': ({ enabled }) => `switched the second factor ${switched(enabled === true)}`,
  'user.backup-codes': 'made new backup codes',
  'user.passkey-add': ({ name }) => `added the passkey ${text(name)}`,
  'user.passkey-remove': (_after, { name }) => `removed the passkey ${text(name)}`,
  'user.link-provider': ({ provider }) => `linked a sign-in by ${text(provider)}`,
  'session.end': 'ended one of their sessions',
  'session.end-others': 'ended all their other sessions',
  'secret.rotate': 'replaced the secret of the installation',
  'secret.retire': 'retired earlier secrets of the installation',
  'admin-key.create': 'created the admin key {it}',
  'admin-key.revoke': 'revoked the admin key {it}',
  'backup.make': 'made a backup',
  'database.move': ({ from }) => `moved the books here from ${text(from)}`,
  'settings.update': 'saved version {it} of the settings',
  'settings.reload': 'had the configuration file read again, as version {it} of the settings',
  'alert.create': 'added the alert endpoint {it}',
  'alert.update': ({ disabled_at: at }) =>
    at === undefined
      ? 'changed the alert endpoint {it}'
      : `switched the alert endpoint {it} ${switched(at === null)}`,
  'alert.remove': 'removed the alert endpoint {it}',
  'alert.send': ({ type }) =>
    type === 'test' ? 'sent a test to {it}' : 'sent a delivery to {it} again',
  'alert.replace-secret': 'replaced the secret of the webhook {it}',
  'own-key.create': 'brought the own key {it}',
  'own-key.update': 'changed the own key {it}',
  'own-key.remove': 'removed the own key {it}',
  'batch.cancel': 'cancelled the batch {it}',
};

/** Their sentences leave the fields to be told. */
const untold: readonly string[] = [
  'account.update',
  'account.low-balance',
  'auto-top-up.update',
  'account.telemetry',
  'key.update',
  'member.budget',
  'settings.update',
  'settings.reload',
  'alert.update',
] satisfies AuditAction[];
/** Fields that a sentence of these tells. */
const told = ['frozen', 'disabled_at', 'disabled_reason'];

/** Names in what was, or is, there. */
const nameFields = ['name', 'address', 'email'];

export type Said = {
  readonly who: string;
  /** What was done, with `{it}` for the thing. */
  readonly what: string;
  readonly it: string;
  /** What changed from what to what; '' for what is new or gone. */
  readonly details: string;
};

export function sayEntry(entry: Entry): Said {
  const { action, actor, subject, names } = entry;
  const [before, after] = [fieldsOf(entry.before), fieldsOf(entry.after)];
  const sentence = Object.hasOwn(sentences, action)
    ? sentences[action as AuditAction]
    : // An action that only another version of Tollgate knows.
      `did ${action} to {it}`;
  const what = typeof sentence === 'string' ? sentence : sentence(after, before, entry);
  const own = nameFields.map((field) => after[field] ?? before[field]).find(Boolean);
  const details = untold.includes(action)
    ? changesOf(restOf(before), restOf(after)).map(
        ({ field, before: old, after: now }) =>
          `${field} from ${old ?? 'none'} to ${now ?? 'none'}`,
      )
    : [];
  return {
    who: actor.kind === 'command' ? `The command “${actor.name}”` : actor.name,
    what,
    // A key may have no name.
    it: names[subject] || text(own) || subject,
    details: details.join('; '),
  };
}

function restOf(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !told.includes(name)));
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}
