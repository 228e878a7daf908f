// Proof of addresses and payments. A link that was shown to the inviter does not prove an address:
// users who were verified by such a link must verify again, and the sign-in provider that was
// linked because of it must be linked again. A payment belongs to a top-up when it was paid through
// the checkout created for it.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

type Types = { readonly text: string; readonly no: string; readonly checkoutId: string };

/**
 * Extracts the checkout id from a Stripe URL,
 * `https://checkout.stripe.com/c/pay/cs_live_a1b2#fid…`, for checkouts that are open now.
 */
const onSqlite: Types = {
  text: 'text',
  no: '0',
  checkoutId: `(select case when instr(rest, '#') > 0 then substr(rest, 1, instr(rest, '#') - 1) else rest end
    from (select substr(checkout_url, instr(checkout_url, '/cs_') + 1) as rest))`,
};
const onPostgres: Types = {
  text: 'text collate "C"',
  no: 'false',
  checkoutId: `substring(checkout_url from '/(cs_[^#]+)')`,
};

/**
 * Excludes users who proved their address in another way, as the first user of an installation or
 * by a confirmation link, and users without a password, because their provider vouched for them.
 */
const wronglyProved = `select users.id from users
  where exists (select 1 from invitations where invitations.email = users.email and mailed = 1 and accepted_at_ms is not null)
    and exists (select 1 from user_credentials where user_credentials.user_id = users.id and provider_id = 'credential')
    and not exists (
      select 1 from audit_log where subject = users.id and (
        action = 'user.first-run'
        or (action = 'user.verify-email' and after = '{"email":"' || users.email || '"}')
      )
    )`;

const statements = ({ text, no, checkoutId }: Types) => [
  `create table wrongly_proved as ${wronglyProved}`,
  // Sign-in through the provider is removed and its users are signed out; their password still
  // works.
  `delete from user_sessions where user_id in (
    select user_id from user_credentials where provider_id <> 'credential' and user_id in (select id from wrongly_proved)
  )`,
  `delete from user_credentials where provider_id <> 'credential' and user_id in (select id from wrongly_proved)`,
  `update users set email_verified = ${no} where id in (select id from wrongly_proved)`,
  `drop table wrongly_proved`,
  `alter table invitations add column mailed_token_digest ${text}`,
  `create unique index invitations_by_mailed_token on invitations (mailed_token_digest)`,
  `alter table invitations drop column mailed`,
  `alter table top_ups add column checkout_id ${text}`,
  `update top_ups set checkout_id = ${checkoutId} where checkout_url like '%/cs\\_%' escape '\\'`,
];

export const proofs: Migration = migration(statements(onSqlite));
export const proofsOnPostgres: Migration = migration(statements(onPostgres));

function migration(texts: readonly string[]): Migration {
  return {
    up: async (db) => {
      for (const text of texts) await sql.raw(text).execute(db);
    },
  };
}
