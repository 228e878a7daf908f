// The signed-in user.
import type { Role } from '../../db/schema.ts';

export type Session = {
  readonly id: string;
  readonly userId: string;
  readonly email: string;
  readonly name: string;
  readonly isOperator: boolean;
  /** True also without a password: a sign-in provider asks for what it wants. */
  readonly hasSecondFactor: boolean;
  /** The current memberships, not those at sign-in. */
  readonly memberships: readonly Membership[];
};

export type Membership = {
  readonly accountId: string;
  readonly role: Role;
  /** The account is closed to users without a second factor. */
  readonly requiresSecondFactor: boolean;
};
