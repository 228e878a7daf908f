// Dashboard links that carry a token. They start with the configured address, never the request's
// Host header: otherwise the sender of a request could direct the token to another site.
import type { OfficeContext } from './context.ts';

type LinkedPage = '/first-run' | '/reset-password' | '/verify-email' | '/invitation';

/** Example: `https://llm.example.com/invitation?token=…` */
export function linkTo(
  { users }: Pick<OfficeContext, 'users'>,
  page: LinkedPage,
  token: string,
): string {
  return `${users.publicUrl()}${page}?token=${token}`;
}
