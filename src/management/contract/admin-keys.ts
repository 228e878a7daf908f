// Keys of the admin API. Operators create and revoke them.
import { Type } from 'typebox';
import { adminScopes } from '../../terms/admin-scope.ts';
import { closed, orNull } from './common.ts';
import { endpoint } from './endpoint.ts';
import { keyControls, Name } from './keys.ts';

const Scope = Type.Enum([...adminScopes]);

const AdminKey = closed({
  id: Type.String(),
  name: Type.String(),
  hint: Type.String({ description: '`tg_admin_…x4Qz`' }),
  scopes: Type.Array(Scope),
  allowed_addresses: orNull(Type.Array(Type.String())),
  expires_at: orNull(Type.String()),
  created_at: Type.String(),
  revoked_at: orNull(Type.String()),
});

export const adminKeysEndpoints = {
  'GET /operator/admin-keys': endpoint({
    access: 'operator',
    commands: ['admin-keys list'],
    summary: 'List admin keys',
    note: 'Newest first.',
    list: AdminKey,
    order: 'id',
  }),
  'POST /operator/admin-keys': endpoint({
    access: 'operator',
    confirmed: true,
    commands: ['admin-keys create'],
    summary: 'Create an admin key',
    body: closed({
      name: Name,
      scopes: Type.Array(Scope, { minItems: 1, maxItems: 20 }),
      allowed_addresses: keyControls.allowed_addresses,
      expires_at: keyControls.expires_at,
    }),
    output: closed({
      key: AdminKey,
      secret: Type.String({ description: "The key's own text: it is shown this once." }),
    }),
  }),
  'POST /operator/admin-keys/:key/revoke': endpoint({
    access: 'operator',
    commands: ['admin-keys revoke'],
    summary: 'Revoke an admin key',
    note: 'For good. A second time changes nothing.',
    output: AdminKey,
  }),
};
