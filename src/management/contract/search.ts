// The search of the command palette. A member finds what its account's pages show, an operator also
// accounts and users.
import { Type } from 'typebox';
import { closed, Mode, Named } from './common.ts';
import { endpoint } from './endpoint.ts';
import { KeyState } from './keys.ts';
import { requestOutcomes } from './requests.ts';

const SearchText = Type.String({ minLength: 2, maxLength: 100 });

const FoundRequest = {
  id: Type.String(),
  mode: Mode,
  created_at: Type.String(),
  outcome: Type.Enum([...requestOutcomes]),
};

export const searchEndpoints = {
  'GET /accounts/:account/search': endpoint({
    access: 'viewer',
    summary: 'Find requests, keys and models',
    note: 'Requests by their whole id, keys by a part of the name or hint, models by parts of the name. A few of each.',
    query: Type.Object({ q: SearchText }),
    output: closed({
      requests: Type.Array(closed(FoundRequest)),
      keys: Type.Array(
        closed({
          id: Type.String(),
          mode: Mode,
          name: Type.String(),
          hint: Type.String(),
          state: KeyState,
        }),
      ),
      models: Type.Array(Named),
    }),
  }),
  'GET /operator/search': endpoint({
    access: 'operator',
    summary: 'Find accounts, users and requests of all accounts',
    note: 'By a part of the name or e-mail address, or by id; requests by their whole id. A few of each.',
    query: Type.Object({ q: SearchText }),
    output: closed({
      requests: Type.Array(closed({ ...FoundRequest, account: Named })),
      accounts: Type.Array(Named),
      users: Type.Array(closed({ id: Type.String(), name: Type.String(), email: Type.String() })),
    }),
  }),
};
