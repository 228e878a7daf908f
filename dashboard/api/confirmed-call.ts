// Calls that the gateway makes only when the user has just confirmed them. A dialog of the page asks
// (`parts/confirmation-dialog.tsx`), so that no form has to know which calls these are.
import type { ConfirmationFields, ConfirmationWays } from '../../src/management/contract/common.ts';
import { ApiError } from './api-error.ts';
import { api, type ChangeKey, type Input, type Output } from './client.ts';

/** Asks the user, sends the call with the answer, and returns its output. Throws ApiError. */
type Ask = (
  ways: ConfirmationWays,
  send: (fields: ConfirmationFields) => Promise<unknown>,
) => Promise<unknown>;

let askUser: Ask | null = null;

export function askForConfirmationsBy(ask: Ask): void {
  askUser = ask;
}

/** Throws ApiError. */
export async function confirmedCall<Key extends ChangeKey>(
  key: Key,
  input: Input<Key>,
): Promise<Output<Key>> {
  try {
    return await api(key, input);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'confirmation_required' || !askUser)
      throw error;
    const { body } = input as { readonly body?: object };
    const ways = error.details as ConfirmationWays;
    return (await askUser(ways, (fields) =>
      api(key, { ...input, body: { ...body, ...fields } } as unknown as Input<Key>),
    )) as Output<Key>;
  }
}
