// Roles in an account, as people read and give them.
import type { Output } from '../../api/client.ts';

export type Role = Output<'GET /accounts/:account/members'>['data'][number]['role'];

const titles: Readonly<Record<Role, string>> = { member: 'Member', admin: 'Admin', owner: 'Owner' };

export const roleTexts: Readonly<Record<Role, string>> = {
  member: 'Sees everything and uses the playground.',
  admin: 'Also manages keys, and invites members and admins.',
  owner: 'Also pays, names the account and manages its members.',
};

export function roleTitle(role: Role): string {
  return titles[role];
}

export function isRole(text: string | null): text is Role {
  return text !== null && Object.hasOwn(titles, text);
}

/** What somebody of a role may give: only an owner makes owners. */
export function roleOptions(own: Role): { value: Role; label: string }[] {
  const roles: Role[] = own === 'owner' ? ['member', 'admin', 'owner'] : ['member', 'admin'];
  return roles.map((value) => ({ value, label: titles[value] }));
}

type Member = { readonly user_id: string; readonly role: Role };

/** An account always has an owner: the last one neither leaves nor becomes less. */
export function isLastOwner(members: readonly Member[], { user_id: id, role }: Member): boolean {
  return role === 'owner' && !members.some((member) => member.role === 'owner' && member.user_id !== id);
}
