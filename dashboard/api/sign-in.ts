// The calls around signing in. They are not the contract's: the answers come from the sign-in library, and set the session's cookie.
import { call } from './client.ts';

export async function signOut(): Promise<void> {
  await call('POST', '/auth/sign-out');
}
