// Who is signed in.
import type { Role } from '../db/schema.ts';

export type Session = {
  readonly id: string;
  readonly userId: string;
  readonly email: string;
  readonly name: string;
  readonly isOperator: boolean;
  /** As they are now, not as they were at the sign-in. */
  readonly memberships: readonly Membership[];
};

export type Membership = { readonly accountId: string; readonly role: Role };
