// The calls around signing in. The session is a cookie that the gateway sets: no answer holds a token.
import { call } from './client.ts';

export type Done = { readonly ok: true };
export type Role = 'member' | 'admin' | 'owner';

/** Throws ApiError `sign_in_failed`, whatever was wrong. */
export function signIn(body: { readonly email: string; readonly password: string }) {
  return call<{ readonly next: 'done' | 'second-factor' }>('POST', '/auth/sign-in', body);
}

/** After `second-factor`. */
export function giveSecondFactor(body: { readonly code: string; readonly kind: 'totp' | 'backup' }) {
  return call<Done>('POST', '/auth/second-factor', body);
}

export function signOut() {
  return call<Done>('POST', '/auth/sign-out');
}

export function signUp(body: { readonly name: string; readonly email: string; readonly password: string }) {
  return call<{ readonly next: 'done' | 'check-email' }>('POST', '/auth/sign-up', body);
}

export type LinkInfo = { readonly kind: 'first-run' | 'password-reset' | 'verify-email'; readonly email: string | null };

/** What a one-time link is for. Throws ApiError 404: unknown, used or expired. */
export function readLink(token: string) {
  return call<LinkInfo>('POST', '/auth/link', { token });
}

export function completeFirstRun(body: {
  readonly token: string;
  readonly name: string;
  readonly email: string;
  readonly password: string;
}) {
  return call<Done>('POST', '/auth/first-run', body);
}

export function askForPasswordReset(email: string) {
  return call<Done>('POST', '/auth/password-reset', { email });
}

export function completePasswordReset(body: { readonly token: string; readonly password: string }) {
  return call<Done>('POST', '/auth/password-reset/complete', body);
}

export function verifyEmail(token: string) {
  return call<{ readonly email: string }>('POST', '/auth/verify-email', { token });
}

export type InvitationInfo = {
  readonly account_name: string;
  readonly role: Role;
  readonly email: string;
  readonly invited_by: string | null;
  readonly is_user: boolean;
  readonly expires_at: string;
};

export function readInvitation(token: string) {
  return call<InvitationInfo>('POST', '/auth/invitation', { token });
}

/** `name` and `password`: of somebody who becomes a user by it. */
export function acceptInvitation(body: { readonly token: string; readonly name?: string; readonly password?: string }) {
  return call<{ readonly account_id: string }>('POST', '/auth/invitation/accept', body);
}

/** Where to send the browser; it comes back to `next`. */
export function startOidc(next: string) {
  return call<{ readonly url: string }>('POST', '/auth/oidc', { next });
}
