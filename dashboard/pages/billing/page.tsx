// What the account has, what moved it, and how owners pay in.
import { Anchor, Button, SimpleGrid, Stack, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useAccount, useIsAtLeast, useMode } from '../../app/account.ts';
import { useUrlState } from '../../app/url-state.ts';
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

export type Overview = Output<'GET /accounts/:account/billing'>;

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
          isLive ? 'Your balance, and everything that moved it.' : 'Play money of the test mode. Nothing here is real.'
        }
        actions={
          isLive &&
          isOwner &&
          bounds && (
            <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setState({ pay: 'yes' }, { push: true })}>
              Top up
            </Button>
          )
        }
      />
      <Stack>
        {topUpId !== null && <TopUpResult key={topUpId} topUpId={topUpId} onClose={() => setState({ top_up: undefined })} />}
        {billing.error && <ErrorNotice error={billing.error} onRetry={() => void billing.refetch()} />}
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <Stat
            label="Available"
            value={overview && <Money micros={overview.available_micros} />}
            hint={overview && <AvailableHint overview={overview} />}
          />
          <Stat
            label="Held by running requests"
            value={overview && <Money micros={overview.held_micros} />}
            hint="The most that they can cost; what they do not use comes back."
          />
        </SimpleGrid>
        {isLive && overview && !(isOwner && bounds) && <HowToPay overview={overview} />}
        {isLive && overview && <LowBalance overview={overview} />}
        <Panel title="Statement" description="Charges are summed by UTC day; Usage has each of them." flush>
          <StatementTable
            pages={pages}
            emptyText={isLive ? 'Top-ups, adjustments and charges will stand here.' : 'Charges of test keys will stand here.'}
          />
        </Panel>
      </Stack>
      {bounds && isOwner && <TopUpDialog opened={isPaying} bounds={bounds} onClose={() => setState({ pay: undefined })} />}
    </>
  );
}

function AvailableHint({ overview }: { readonly overview: Overview }) {
  if (overview.posted_micros < 0) return 'Nothing that costs runs until this is above zero.';
  if (overview.held_micros === 0) return 'All of it can be spent.';
  return (
    <>
      of <Money micros={overview.posted_micros} />, the rest is held
    </>
  );
}

/** For whom cannot pay here. */
function HowToPay({ overview }: { readonly overview: Overview }) {
  return (
    <Panel title="Adding credit">
      <Text>
        {overview.top_up ? (
          'Owners of the account can top it up by card. Ask one of them.'
        ) : overview.contact === null ? (
          'Ask whoever runs this service to add credit to this account.'
        ) : (
          <>
            To add credit, contact <Contact text={overview.contact} />.
          </>
        )}
      </Text>
      <Text size="sm" c="dimmed" mt={4}>
        Say which account it is for: <AccountId />
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

/** A link where it is an address. */
function Contact({ text }: { readonly text: string }) {
  if (/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text)) return <Anchor href={`mailto:${text}`}>{text}</Anchor>;
  if (/^https?:\/\/\S+$/.test(text)) {
    return (
      <Anchor href={text} rel="noreferrer">
        {text}
      </Anchor>
    );
  }
  return text;
}
