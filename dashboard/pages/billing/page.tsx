// Balance, statement and top-ups.
import { Anchor, Button, SimpleGrid, Stack, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useAccount, useIsAtLeast, useMode } from '../../api/account.ts';
import { useUrlState } from '../../parts/url-state.ts';
import type { Output } from '../../api/client.ts';
import { useApi, useApiPages } from '../../api/use-api.ts';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { Money } from '../../parts/money.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Stat } from '../../parts/stat.tsx';
import { StatementTable } from '../../parts/statement-table.tsx';
import { LowBalance } from './low-balance.tsx';
import { TopUpDialog } from './top-up-dialog.tsx';
import { TopUpResult } from './top-up-result.tsx';

type Overview = Output<'GET /accounts/:account/billing'>;

export function Page() {
  const mode = useMode();
  const isOwner = useIsAtLeast('owner');
  const [{ topUpId, isPaying }, setState] = useUrlState(({ top_up: id, pay }) => ({
    topUpId: id ?? null,
    isPaying: pay === 'yes',
  }));
  const billing = useApi('GET /accounts/:account/billing', { query: { mode } });
  const pages = useApiPages('GET /accounts/:account/statement', { query: { mode } });
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
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <Stat
            label="Available"
            value={overview && <Money micros={overview.available_micros} />}
            hint={overview && <AvailableHint overview={overview} />}
          />
          <Stat
            label="Held by running requests"
            value={overview && <Money micros={overview.held_micros} />}
            hint="The most they can cost. What they do not use is returned."
          />
        </SimpleGrid>
        {isLive && overview && !(isOwner && bounds) && <HowToPay overview={overview} />}
        {isLive && overview && <LowBalance overview={overview} />}
        <Panel
          title="Statement"
          description="Charges are summed by UTC day. The Requests page lists each one."
          flush
        >
          <StatementTable
            pages={pages}
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

function AvailableHint({ overview }: { readonly overview: Overview }) {
  if (overview.posted_micros < 0) return 'Paid requests are refused until this is above zero.';
  if (overview.held_micros === 0) return 'Nothing is held.';
  return (
    <>
      of <Money micros={overview.posted_micros} />; the rest is held
    </>
  );
}

/** For users who cannot top up here. */
function HowToPay({ overview }: { readonly overview: Overview }) {
  return (
    <Panel title="Add credit">
      <Text>
        {overview.top_up ? (
          'Only owners can top up this account. Ask one of them.'
        ) : overview.contact === null ? (
          'Ask the operator of this service to add credit.'
        ) : (
          <>
            To add credit, contact <Contact text={overview.contact} />.
          </>
        )}
      </Text>
      <Text size="sm" c="dimmed" mt={4}>
        Mention your account ID: <AccountId />
      </Text>
    </Panel>
  );
}

function AccountId() {
  return (
    <Text span inherit ff="monospace">
      {useAccount().id}
    </Text>
  );
}

/** Links e-mail and web addresses. */
function Contact({ text }: { readonly text: string }) {
  if (/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text))
    return <Anchor href={`mailto:${text}`}>{text}</Anchor>;
  if (/^https?:\/\/\S+$/.test(text)) {
    return (
      <Anchor href={text} rel="noreferrer">
        {text}
      </Anchor>
    );
  }
  return text;
}
