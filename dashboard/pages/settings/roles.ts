// Roles in an account, as people read them.
import type { Output } from '../../api/client.ts';

export type Role = Output<'GET /accounts/:account/members'>['data'][number]['role'];

const titles: Readonly<Record<Role, string>> = { member: 'Member', admin: 'Admin', owner: 'Owner' };

export function roleTitle(role: Role): string {
  return titles[role];
}

/** What somebody of a role may give. */
export function roleOptions(own: Role): { value: Role; label: string }[] {
  const roles: Role[] = own === 'owner' ? ['member', 'admin', 'owner'] : ['member', 'admin'];
  return roles.map((value) => ({ value, label: titles[value] }));
}
