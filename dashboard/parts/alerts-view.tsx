// Where events are sent to, and what became of each.
import { Button, Stack } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useApi } from '../api/use-api.ts';
import { AlertDeliveries } from './alert-deliveries.tsx';
import { AlertEndpointsTable } from './alert-endpoints-table.tsx';
import type { AlertsOf } from './alerts-of.ts';
import { NewAlertEndpoint } from './new-alert-endpoint.tsx';
import { PageHeader } from './page-header.tsx';
import { Panel } from './panel.tsx';
import { QueryView } from './query-view.tsx';
import { useUrlState } from './url-state.ts';

type Props = { readonly of: AlertsOf; readonly description: string };

export function AlertsView({ of, description }: Props) {
  const { below, params } = of;
  const alerts = useApi(`GET ${below}/accounts/:account/alert-endpoints`, { params });
  const [isAdding, setState] = useUrlState(({ create }) => create === 'yes');
  return (
    <>
      <PageHeader
        title="Alerts"
        description={description}
        actions={
          <Button
            leftSection={<IconPlus size={16} aria-hidden />}
            onClick={() => setState({ create: 'yes' }, { push: true })}
          >
            Add endpoint
          </Button>
        }
      />
      <QueryView query={alerts}>
        {(data) => (
          <Stack>
            <Panel title="Endpoints" flush>
              <AlertEndpointsTable of={of} alerts={data} />
            </Panel>
            <Panel
              title="Deliveries"
              description="Of the last 60 days. An event is tried for three days."
              flush
            >
              <AlertDeliveries of={of} endpoints={data.endpoints} />
            </Panel>
            <NewAlertEndpoint
              of={of}
              alerts={data}
              opened={isAdding}
              onClose={() => setState({ create: undefined })}
            />
          </Stack>
        )}
      </QueryView>
    </>
  );
}
