// The members of an account as its owners and its operator see them.
import type { Database } from '../../db/database.ts';
import { listMembers } from '../../users/members.ts';

export async function memberRows(database: Database, accountId: string) {
  const members = await listMembers(database, accountId);
  return {
    data: members.map(({ userId, name, email, role, hasSecondFactor, joinedAtMs }) => ({
      user_id: userId,
      name,
      email,
      role,
      second_factor: hasSecondFactor,
      joined_at: new Date(joinedAtMs).toISOString(),
    })),
  };
}
