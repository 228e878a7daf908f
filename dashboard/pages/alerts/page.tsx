// The endpoints that the account's events are sent to.
import { AlertsView } from '../../parts/alerts-view.tsx';
import { ofAccount } from '../../parts/alerts-of.ts';

export function Page() {
  return (
    <AlertsView
      of={ofAccount}
      description="Low balances, caps, payments and unusual spending, by webhook, e-mail or Slack."
    />
  );
}
