// Whose alerts a page shows. Both have the same calls; the operators' are those of the account
// `operators`.
import type { Output } from '../api/client.ts';

export type AlertsOf = {
  readonly below: '' | '/operator';
  /** Absent: the chosen account. */
  readonly params: { readonly account?: string };
};

export const ofAccount: AlertsOf = { below: '', params: {} };
export const ofOperators: AlertsOf = { below: '/operator', params: { account: 'operators' } };

export type AlertEndpoints = Output<'GET /accounts/:account/alert-endpoints'>;
export type AlertEndpoint = AlertEndpoints['endpoints'][number];
export type AlertKind = AlertEndpoint['kind'];

export const alertKinds: Readonly<Record<AlertKind, string>> = {
  webhook: 'Webhook',
  email: 'E-mail',
  slack: 'Slack',
};

/** The calls to reload after a change. */
export function alertReads({ below }: AlertsOf) {
  return [
    `GET ${below}/accounts/:account/alert-endpoints`,
    `GET ${below}/accounts/:account/alert-deliveries`,
  ] as const;
}
