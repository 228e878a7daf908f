// Describes an endpoint of the admin API: the scope that it needs, its input and its output. The
// server checks requests against the schemas, and tests check the outputs.
import type { TObject } from 'typebox';
import type { AdminScope } from '../../../canonical/admin-scope.ts';
import type { Endpoint } from '../endpoint.ts';

/** `GET /accounts/:account` is relative to `/admin/v1`. */
export type AdminEndpoint = Omit<Endpoint, 'access' | 'output'> & {
  readonly scope: AdminScope;
  readonly output: TObject;
  /** Takes an `Idempotency-Key`: the request runs once, and a repeated one gets the same answer. */
  readonly idempotency?: 'optional' | 'required';
};

/** Example: `adminEndpoint({ scope: 'accounts:read', summary: 'Get an account', output: Account })` */
export function adminEndpoint<const Shape extends AdminEndpoint>(shape: Shape): Shape {
  return shape;
}
