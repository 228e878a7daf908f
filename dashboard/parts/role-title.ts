// Names of the roles in an account.
import type { Output } from '../api/client.ts';

export type Role = Output<'GET /accounts/:account/members'>['data'][number]['role'];

export const roleTitles: Readonly<Record<Role, string>> = {
  viewer: 'Viewer',
  member: 'Member',
  admin: 'Admin',
  owner: 'Owner',
};

export function roleTitle(role: Role): string {
  return roleTitles[role];
}
