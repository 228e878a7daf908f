import { Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { UsageDetail } from '../../../src/management/contract/usage.ts';
import { Money } from '../../parts/money.tsx';
import { fineUsdText, usdText } from '../../parts/money-text.ts';
import { countText } from '../../parts/number-text.ts';
import { costsOf, type CostLine } from './cost-lines.ts';

/** What was counted, its price and its amount; the amounts add up to the charge. */
export function CostTable({ detail }: { readonly detail: UsageDetail }) {
  const costs = costsOf(detail);
  return (
    <Table fz="sm" verticalSpacing={6}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Item</Table.Th>
          <Table.Th ta="right">Count</Table.Th>
          <Table.Th ta="right">Price</Table.Th>
          <Table.Th ta="right">Amount</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {costs?.lines.map((line) => (
          <Table.Tr key={line.name}>
            <Table.Th scope="row" fw={400}>
              {line.name}
            </Table.Th>
            <Table.Td ta="right">{countText(line.count)}</Table.Td>
            <Table.Td ta="right">{priceText(line)}</Table.Td>
            <Table.Td ta="right">{fineUsdText(line.amountMicros)}</Table.Td>
          </Table.Tr>
        ))}
        {costs && Math.abs(costs.roundingMicros) >= 0.001 && (
          <Line name="Rounded up to a millionth of a dollar">
            {fineUsdText(costs.roundingMicros)}
          </Line>
        )}
        {detail.loss_micros > 0 && (
          <Line name="Beyond the balance or a cap">−{usdText(detail.loss_micros)}</Line>
        )}
        {!costs && (
          <Table.Tr>
            <Table.Td colSpan={4}>
              <Text size="sm" c="dimmed">
                The prices of this request were not kept.
              </Text>
            </Table.Td>
          </Table.Tr>
        )}
      </Table.Tbody>
      <Table.Tfoot>
        <Table.Tr>
          <Table.Th scope="row" colSpan={3}>
            Charged
          </Table.Th>
          <Table.Td ta="right" fw={600}>
            <Money micros={detail.cost_micros} />
          </Table.Td>
        </Table.Tr>
      </Table.Tfoot>
    </Table>
  );
}

function Line({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={400} colSpan={3}>
        {name}
      </Table.Th>
      <Table.Td ta="right">{children}</Table.Td>
    </Table.Tr>
  );
}

function priceText({ price: { micros, per } }: CostLine): string {
  return per === 'million' ? `${usdText(micros)} / M` : `${fineUsdText(micros)} each`;
}
