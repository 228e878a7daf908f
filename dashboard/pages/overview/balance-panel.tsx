// The balance, how long it lasts, and a way to top it up.
import { Group, SimpleGrid } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useIsAtLeast, type Mode } from '../../api/account.ts';
import type { Output } from '../../api/client.ts';
import { useApi } from '../../api/use-api.ts';
import { ButtonLink } from '../../parts/link.tsx';
import { Money } from '../../parts/money.tsx';
import { usdText } from '../../parts/money-text.ts';
import { countText } from '../../parts/number-text.ts';
import { Stat } from '../../parts/stat.tsx';

type Overview = Output<'GET /accounts/:account/overview'>;

type Props = {
  /** Undefined while loading. */
  readonly overview: Overview | undefined;
  readonly mode: Mode;
};

export function BalancePanel({ overview, mode }: Props) {
  const held = overview?.balance.held_micros ?? 0;
  return (
    <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="md">
      <Stat
        label="Balance"
        value={
          overview && (
            <Group justify="space-between" gap="xs">
              <Money short micros={overview.balance.available_micros} />
              {mode === 'live' && <TopUp />}
            </Group>
          )
        }
        hint={
          (overview ? runwayText(overview) : '') +
          (held > 0 ? `. ${usdText(held)} held by running requests` : '')
        }
      />
      <Stat
        label="Spent today"
        value={overview && <Money short micros={overview.spent.today_micros} />}
        hint="Since 00:00 UTC"
      />
      <Stat
        label="Spent this month"
        value={overview && <Money short micros={overview.spent.month_micros} />}
        hint="Since the 1st, 00:00 UTC"
      />
    </SimpleGrid>
  );
}

const runwayMaxDays = 1_000;

function runwayText({ runway_days: days }: Overview): string {
  if (days === null) return 'Nothing was spent in the last 7 complete UTC days';
  if (days > runwayMaxDays) return 'Lasts for years at the recent spend';
  return `Lasts ${countText(days)} ${days === 1 ? 'day' : 'days'} at the recent spend`;
}

/** Owners top up in the dashboard if the operator takes payments there. */
function TopUp() {
  const isOwner = useIsAtLeast('owner');
  const billing = useApi('GET /accounts/:account/billing', { query: { mode: 'live' } });
  if (!isOwner || !billing.data?.top_up) return null;
  return (
    <ButtonLink
      to="/billing"
      search={(before) => ({ account: before.account, mode: before.mode, pay: 'yes' })}
      size="xs"
      leftSection={<IconPlus size={16} aria-hidden />}
    >
      Top up
    </ButtonLink>
  );
}
