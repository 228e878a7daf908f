// Cards that accounts save, and top-ups that Tollgate starts with them: domain/billing/auto-top-ups.ts.
// A top-up with a customer is such an attempt. The index lets an account have one that is not settled.
export const autoTopUps = `
create table auto_top_ups (
  account_id ID primary key references accounts (id),
  threshold_micros INT check (threshold_micros > 0), amount_micros INT check (amount_micros > 0),
  ceiling_micros INT check (ceiling_micros > 0), user_id text, checkout_id ID,
  customer_id ID, card_id ID, card_brand text, card_last4 text,
  paused_at_ms INT, paused_reason text, revision INT not null default 0
) ORDERED;
alter table top_ups add column customer_id text;
alter table top_ups add column card_id text;
alter table top_ups add column problem text;
create unique index top_ups_unsettled on top_ups (account_id)
  where customer_id is not null and state in ('open', 'processing');
`;
