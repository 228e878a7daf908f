// Links into the dashboard that carry a token. Made of the configured address, never of what a request calls it: who sends the request
// would choose where the token goes.
import type { ServerContext } from '../context.ts';

type LinkedPage = '/first-run' | '/reset-password' | '/verify-email' | '/invitation';

/** `https://llm.example.com/invitation?token=…` */
export function linkTo({ users }: Pick<ServerContext, 'users'>, page: LinkedPage, token: string): string {
  return `${users.publicUrl()}${page}?token=${token}`;
}
