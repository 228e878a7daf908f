// The endpoints that operators' events are sent to.
import { AlertsView } from '../../../parts/alerts-view.tsx';
import { ofOperators } from '../../../parts/alerts-of.ts';

export function Page() {
  return (
    <AlertsView
      of={ofOperators}
      description="Broken routes, refused credentials, losses, backups and payments, by webhook, e-mail or Slack."
    />
  );
}
