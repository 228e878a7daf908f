// The account of a customer that an operator looks at. The account's own pages are shown inside of
// `InSight`: they read the calls below /operator, and change nothing, as for a viewer.
import { createContext, useContext } from 'react';
import type { Mode } from '../../src/management/contract/common.ts';
import type { SessionInfo } from './session.ts';

export type AccountInSight = {
  readonly account: SessionInfo['accounts'][number];
  readonly mode: Mode;
};

export const InSight = createContext<AccountInSight | null>(null);

/** Returns null on a member's own pages. */
export function useAccountInSight(): AccountInSight | null {
  return useContext(InSight);
}
