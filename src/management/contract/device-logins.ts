// Programs on other machines that ask for a key, such as `claude /login`.
import { Type } from 'typebox';
import { closed } from './common.ts';
import { endpoint } from './endpoint.ts';
import { Name } from './keys.ts';

const UserCode = Type.String({ maxLength: 40 });
const code = closed({ user_code: UserCode });

export const deviceLoginsEndpoints = {
  'POST /device-logins/find': endpoint({
    access: 'user',
    summary: 'Get the program that asks for a key',
    note: '404 when no program waits with this code. A few tries are free, then they must wait.',
    body: code,
    output: closed({
      user_code: Type.String({ description: 'As the program shows it, to be compared.' }),
      program: Type.String({ description: 'As it calls itself.' }),
      address: Type.String({ description: 'Where it asks from.' }),
      is_same_address: Type.Boolean(),
      expires_at: Type.String({ description: 'It must be confirmed before.' }),
    }),
  }),
  'POST /accounts/:account/device-logins': endpoint({
    access: 'admin',
    summary: 'Give the program a key of the account',
    note: 'The key is live, has all scopes and ends after 90 days. It is made when the program asks again, within seconds.',
    body: closed({ user_code: UserCode, name: Name }),
    output: closed({ confirmed: Type.Literal(true, { description: 'Always true.' }) }),
  }),
  'POST /device-logins/deny': endpoint({
    access: 'user',
    summary: 'Refuse the program a key',
    body: code,
    output: closed({ denied: Type.Literal(true, { description: 'Always true.' }) }),
  }),
};
