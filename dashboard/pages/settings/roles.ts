// Descriptions of the roles in an account, and who can give them.
import { roleTitle, roleTitles, type Role } from '../../parts/role-title.ts';

export const roleTexts: Readonly<Record<Role, string>> = {
  viewer: 'Can see everything, and changes and spends nothing.',
  member: 'Can also use the playground.',
  admin: 'Can also manage keys and invite anyone but owners.',
  owner: 'Can also pay, rename the account and manage its members.',
};

export function isRole(text: string | null): text is Role {
  return text !== null && Object.hasOwn(roleTitles, text);
}

/** Returns the roles that a user can give to others. Only owners can make owners. */
export function roleOptions(own: Role): { value: Role; label: string }[] {
  const roles: Role[] = ['viewer', 'member', 'admin', ...(own === 'owner' ? [own] : [])];
  return roles.map((value) => ({ value, label: roleTitle(value) }));
}

type Member = { readonly user_id: string; readonly role: Role };

/** The last owner can neither leave nor change role: an account always has an owner. */
export function isLastOwner(members: readonly Member[], { user_id: id, role }: Member): boolean {
  return (
    role === 'owner' && !members.some((member) => member.role === 'owner' && member.user_id !== id)
  );
}
