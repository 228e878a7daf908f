// Balance, statement and top-ups.
import { Button, SimpleGrid, Stack } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useAccount, useIsAtLeast, useMode } from '../../api/account.ts';
import { apiPath } from '../../api/client.ts';
import { useUrlState } from '../../parts/url-state.ts';
import type { Output } from '../../api/client.ts';
import { useApi, useApiPages } from '../../api/use-api.ts';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { Money } from '../../parts/money.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Stat } from '../../parts/stat.tsx';
import { StatementTable, useStatementKinds } from '../../parts/statement-table.tsx';
import { AutoTopUpPanel } from './auto-top-up.tsx';
import { AvailableHint } from './available-hint.tsx';
import { HowToPay } from './how-to-pay.tsx';
import { LowBalance } from './low-balance.tsx';
import { RunwayStat } from './runway.tsx';
import { StatementExport } from './statement-export.tsx';
import { TopUpDialog } from './top-up-dialog.tsx';
import { TopUpResult } from './top-up-result.tsx';

type Line = Output<'GET /accounts/:account/statement'>['data'][number];

export function Page() {
  const { id: account } = useAccount();
  const mode = useMode();
  const isOwner = useIsAtLeast('owner');
  const [{ topUpId, isPaying }, setState] = useUrlState(({ top_up: id, pay }) => ({
    topUpId: id ?? null,
    isPaying: pay === 'yes',
  }));
  const billing = useApi('GET /accounts/:account/billing', { query: { mode } });
  const { query: kinds, choice } = useStatementKinds();
  const query = { mode, ...kinds };
  const pages = useApiPages('GET /accounts/:account/statement', { query });
  const overview = billing.data;
  const bounds = overview?.top_up ?? null;
  const isLive = mode === 'live';
  return (
    <>
      <PageHeader
        title="Billing"
        description={
          isLive
            ? 'Your balance and every change to it.'
            : 'Play money for test mode. Nothing here is real.'
        }
        actions={
          isLive &&
          isOwner &&
          bounds && (
            <Button
              leftSection={<IconPlus size={16} aria-hidden />}
              onClick={() => setState({ pay: 'yes' }, { push: true })}
            >
              Top up
            </Button>
          )
        }
      />
      <Stack>
        {topUpId !== null && (
          <TopUpResult
            key={topUpId}
            topUpId={topUpId}
            onClose={() => setState({ top_up: undefined })}
          />
        )}
        {billing.error && (
          <ErrorNotice error={billing.error} onRetry={() => void billing.refetch()} />
        )}
        <SimpleGrid cols={{ base: 1, sm: 3 }}>
          <Stat
            label="Available"
            value={overview && <Money micros={overview.available_micros} short />}
            hint={overview && <AvailableHint overview={overview} />}
          />
          <Stat
            label="Held by running requests and waiting batches"
            value={overview && <Money micros={overview.held_micros} short />}
            hint="The most they can cost. What they do not use is returned."
          />
          <RunwayStat overview={overview} />
        </SimpleGrid>
        {isLive && overview && !(isOwner && bounds) && <HowToPay overview={overview} />}
        {isLive && bounds && <AutoTopUpPanel bounds={bounds} />}
        {isLive && overview && <LowBalance overview={overview} />}
        <Panel
          title="Statement"
          description="Charges are summed by UTC day. The Requests page lists each one."
          actions={
            <>
              {choice}
              <StatementExport account={account} mode={mode} />
            </>
          }
          flush
        >
          <StatementTable
            pages={pages}
            {...(isLive && { receiptOf: (line: Line) => receiptOf(account, line) })}
            emptyText={
              isLive
                ? 'Top-ups, adjustments and charges appear here.'
                : 'Charges for test keys appear here.'
            }
          />
        </Panel>
      </Stack>
      {bounds && isOwner && (
        <TopUpDialog
          opened={isPaying}
          bounds={bounds}
          onClose={() => setState({ pay: undefined })}
        />
      )}
    </>
  );
}

/** Credits at sign-up were not paid. */
function receiptOf(account: string, line: Line): string | null {
  if (line.kind !== 'credit' || line.id === `signup-${account}`) return null;
  const query = new URLSearchParams({ entry: line.id });
  return `${apiPath}/accounts/${account}/receipt.pdf?${query}`;
}
