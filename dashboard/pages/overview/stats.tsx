import { SimpleGrid } from '@mantine/core';
import type { Output } from '../../api/client.ts';
import { Money } from '../../parts/money.tsx';
import { usdText } from '../../parts/money-text.ts';
import { countText, shareText, shortCountText } from '../../parts/number-text.ts';
import { Stat } from '../../parts/stat.tsx';

type Overview = Output<'GET /accounts/:account/overview'>;

/** Undefined while loading. */
type Props = { readonly overview: Overview | undefined };

export function MoneyStats({ overview }: Props) {
  const held = overview?.balance.held_micros ?? 0;
  return (
    <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="md">
      <Stat
        label="Balance"
        value={overview && <Money short micros={overview.balance.available_micros} />}
        hint={
          held > 0
            ? `Plus ${usdText(held)} held by running requests`
            : 'Nothing held by running requests'
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

export function ActivityStats({ overview }: Props) {
  const activity = overview?.activity;
  const {
    cache_hits: hits = 0,
    replays = 0,
    input_tokens: input = 0,
    cached_tokens: cached = 0,
  } = activity ?? {};
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing="md">
      <Stat
        label="Requests"
        value={activity && countText(activity.requests)}
        hint="Charged in the last 30 days"
      />
      <Stat
        label="Input tokens"
        value={activity && <span title={countText(input)}>{shortCountText(input)}</span>}
        hint={
          cached === 0
            ? 'In the last 30 days'
            : `${shareText(cached / input)} read from the provider’s cache`
        }
      />
      <Stat
        label="Output tokens"
        value={
          activity && (
            <span title={countText(activity.output_tokens)}>
              {shortCountText(activity.output_tokens)}
            </span>
          )
        }
        hint="In the last 30 days"
      />
      <Stat
        label="Saved by caching"
        value={activity && <Money short micros={activity.saved_micros} />}
        hint={`Cache hits: ${countText(hits)}, replays: ${countText(replays)}`}
      />
    </SimpleGrid>
  );
}
