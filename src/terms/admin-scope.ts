// The scopes of admin keys. Each endpoint of the admin API needs one of them.

export const adminScopes = [
  'accounts:read',
  'accounts:write',
  'keys:read',
  'keys:write',
  'credits:write',
  'users:read',
  'users:write',
  'reports:read',
  'prices:read',
  'prices:write',
  'audit:read',
  'settings:read',
  'settings:write',
] as const;

export type AdminScope = (typeof adminScopes)[number];
