// The account's open invitations.
import { useApi, useChange } from '../../../api/use-api.ts';
import { InvitationsPanel } from '../../../parts/invitations-panel.tsx';

export function Invitations({ account }: { readonly account: string }) {
  const invitations = useApi('GET /operator/accounts/:account/invitations', {
    params: { account },
  });
  const withdraw = useChange('DELETE /operator/accounts/:account/invitations/:invitation', {
    invalidates: ['GET /operator/accounts/:account/invitations', 'GET /operator/audit-log'],
  });
  return (
    <InvitationsPanel
      invitations={invitations}
      onWithdraw={(invitation) => withdraw.mutateAsync({ params: { account, invitation } })}
    />
  );
}
