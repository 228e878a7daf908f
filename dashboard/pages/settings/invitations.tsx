// Open invitations.
import { useIsAtLeast } from '../../api/account.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { InvitationsPanel } from '../../parts/invitations-panel.tsx';

/** For admins and owners. */
export function Invitations() {
  return useIsAtLeast('admin') && <OpenInvitations />;
}

function OpenInvitations() {
  const invitations = useApi('GET /accounts/:account/invitations', {});
  const withdraw = useChange('DELETE /accounts/:account/invitations/:invitation', {
    invalidates: ['GET /accounts/:account/invitations'],
  });
  return (
    <InvitationsPanel
      invitations={invitations}
      onWithdraw={(invitation) => withdraw.mutateAsync({ params: { invitation } })}
    />
  );
}
