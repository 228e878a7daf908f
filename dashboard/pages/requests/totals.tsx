// The sums of the requests that match the filters.
import { Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { RequestTotals } from '../../../src/management/contract/requests.ts';
import type { Mode } from '../../api/account.ts';
import { useApi } from '../../api/use-api.ts';
import { Money } from '../../parts/money.tsx';
import { countText, shortCountText } from '../../parts/number-text.ts';
import type { Filters } from './request-filters.ts';

export function Totals({ mode, filters }: { readonly mode: Mode; readonly filters: Filters }) {
  const totals = useApi(
    'GET /accounts/:account/requests/totals',
    { query: { mode, ...filters } },
    { keepPrevious: true },
  ).data;
  const days = filters.from === undefined ? 'Last 30 days' : 'Chosen days';
  return (
    <Group gap="lg" mb="md" mih={24} role="group" aria-label="Totals">
      {totals && (totals.charged || totals.uncharged) && (
        <>
          <Text size="sm" c="dimmed">
            {days}
          </Text>
          <Charged totals={totals} />
          <Uncharged totals={totals} />
        </>
      )}
    </Group>
  );
}

function Charged({ totals: { charged } }: { readonly totals: RequestTotals }) {
  if (!charged) return null;
  return (
    <>
      <Figure name="Charged">{countText(charged.requests)}</Figure>
      <Figure name="Cost">
        <Money micros={charged.cost_micros} short />
      </Figure>
      <Figure name="Tokens">
        {shortCountText(charged.input_tokens)} → {shortCountText(charged.output_tokens)}
      </Figure>
    </>
  );
}

function Uncharged({ totals: { uncharged } }: { readonly totals: RequestTotals }) {
  if (!uncharged) return null;
  const { cached, replayed, failed, saved_micros: saved } = uncharged;
  return (
    <>
      {cached + replayed > 0 && (
        <Figure name="Cached">
          {countText(cached + replayed)}, saved <Money micros={saved} short />
        </Figure>
      )}
      {failed > 0 && <Figure name="Failed">{countText(failed)}</Figure>}
    </>
  );
}

function Figure({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <Text size="sm">
      <Text span inherit c="dimmed">
        {name}
      </Text>{' '}
      <Text span inherit fw={600}>
        {children}
      </Text>
    </Text>
  );
}
