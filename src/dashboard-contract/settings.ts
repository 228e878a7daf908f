// Settings of a user, and of an account: its name, members and invitations.
import { Type } from 'typebox';
import { RoleName, SecondFactorCode, type Done, type Role } from './common.ts';
import { endpoint } from './endpoint.ts';

const Password = Type.String({ maxLength: 1_000 });
const Email = Type.String({ maxLength: 254 });

type Profile = {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly email_verified: boolean;
  /** false: signs in through the provider only. */
  readonly has_password: boolean;
  readonly second_factor: { readonly enabled: boolean; readonly backup_codes_left: number };
};

type UserSession = {
  readonly id: string;
  /** True for the session of this request. */
  readonly current: boolean;
  readonly created_at: string;
  /** To the day. */
  readonly last_active_at: string;
  readonly expires_at: string;
  readonly address: string;
  readonly user_agent: string;
};

type SecondFactorStart = {
  /** `otpauth://…`, for a QR code. */
  readonly uri: string;
  /** The same secret, to be typed in. */
  readonly secret: string;
  readonly backup_codes: readonly string[];
};

type AccountSettings = {
  readonly id: string;
  readonly name: string;
  /** True when answers are stored for replays and the cache. */
  readonly retain_responses: boolean;
  readonly created_at: string;
};

type AccountMember = {
  readonly user_id: string;
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly second_factor: boolean;
  readonly joined_at: string;
};

type PendingInvitation = {
  readonly id: string;
  readonly email: string;
  readonly role: Role;
  /** A name; null: the operator. */
  readonly invited_by: string | null;
  readonly created_at: string;
  readonly expires_at: string;
};

/** The link is shown only once. `mailed`: a separate link was sent to the address. */
export type NewInvitation = {
  readonly id: string;
  readonly link: string;
  readonly mailed: boolean;
};

export const settingsEndpoints = {
  'GET /profile': endpoint<Profile>()({ access: 'user' }),
  'PATCH /profile': endpoint<Done>()({
    access: 'user',
    body: Type.Object({ name: Type.String({ minLength: 1, maxLength: 100 }) }),
  }),
  /** `check-email`: with a mail server, the address is changed when it was proved. */
  'POST /profile/email': endpoint<{ readonly next: 'done' | 'check-email' }>()({
    access: 'user',
    body: Type.Object({ email: Email, password: Password }),
  }),
  /** All other sessions end. */
  'POST /profile/password': endpoint<Done>()({
    access: 'user',
    body: Type.Object({ current_password: Password, new_password: Password }),
  }),
  'GET /profile/sessions': endpoint<{ readonly data: readonly UserSession[] }>()({
    access: 'user',
  }),
  'DELETE /profile/sessions/:session': endpoint<Done>()({ access: 'user' }),
  'POST /profile/sessions/revoke-others': endpoint<Done>()({ access: 'user' }),
  /** Codes are asked for from the confirmation on. */
  'POST /profile/second-factor': endpoint<SecondFactorStart>()({
    access: 'user',
    body: Type.Object({ password: Password }),
  }),
  'POST /profile/second-factor/confirm': endpoint<Done>()({
    access: 'user',
    body: Type.Object({ code: Type.String({ maxLength: 50 }) }),
  }),
  /** The password alone would let whoever has it do away with what stands beside it. */
  'POST /profile/second-factor/disable': endpoint<Done>()({
    access: 'user',
    body: Type.Object({ password: Password, ...SecondFactorCode }),
  }),
  'POST /profile/second-factor/backup-codes': endpoint<{
    readonly backup_codes: readonly string[];
  }>()({
    access: 'user',
    body: Type.Object({ password: Password, ...SecondFactorCode }),
  }),

  'GET /accounts/:account/settings': endpoint<AccountSettings>()({ access: 'member' }),
  'PATCH /accounts/:account/settings': endpoint<Done>()({
    access: 'owner',
    body: Type.Object({
      name: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
      retain_responses: Type.Optional(Type.Boolean()),
    }),
  }),
  'GET /accounts/:account/members': endpoint<{ readonly data: readonly AccountMember[] }>()({
    access: 'member',
  }),
  'PATCH /accounts/:account/members/:user': endpoint<Done>()({
    access: 'owner',
    body: Type.Object({ role: RoleName }),
  }),
  'DELETE /accounts/:account/members/:user': endpoint<Done>()({ access: 'owner' }),
  'POST /accounts/:account/leave': endpoint<Done>()({ access: 'member' }),
  'GET /accounts/:account/invitations': endpoint<{ readonly data: readonly PendingInvitation[] }>()(
    { access: 'admin' },
  ),
  /** Only an owner invites owners. */
  'POST /accounts/:account/invitations': endpoint<NewInvitation>()({
    access: 'admin',
    body: Type.Object({ email: Email, role: RoleName }),
  }),
  'DELETE /accounts/:account/invitations/:invitation': endpoint<Done>()({ access: 'admin' }),
};
