// The details of one request.
import { Code, Group, SimpleGrid, Skeleton, Stack, Table, Text, Title } from '@mantine/core';
import type { UsageDetail } from '../../../src/dashboard-contract/usage.ts';
import { useApi } from '../../api/use-api.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { DetailDrawer } from '../../parts/detail-drawer.tsx';
import { Fact } from '../../parts/fact.tsx';
import { AppLink } from '../../parts/link.tsx';
import { Money } from '../../parts/money.tsx';
import { usdText } from '../../parts/money-text.ts';
import { countText, durationText } from '../../parts/number-text.ts';
import { QueryView } from '../../parts/query-view.tsx';
import { DateTime } from '../../parts/time-ago.tsx';
import { OutcomeBadge } from './usage-columns.tsx';
import { endpointName } from './usage-filters.ts';

/** A null `requestId` closes the drawer. */
export function RequestDrawer({
  requestId,
  onClose,
}: {
  readonly requestId: string | null;
  readonly onClose: () => void;
}) {
  return (
    <DetailDrawer item={requestId} onClose={onClose} title={() => 'Request'}>
      {(shown) => <Details requestId={shown} />}
    </DetailDrawer>
  );
}

function Details({ requestId }: { readonly requestId: string }) {
  const request = useApi('GET /accounts/:account/usage/:request', {
    params: { request: requestId },
  });
  return (
    <Stack gap="lg">
      <Group gap={6} wrap="nowrap">
        <Code fz="sm" style={{ overflowWrap: 'anywhere' }}>
          {requestId}
        </Code>
        <CopyButton text={requestId} label="Copy request ID" />
      </Group>
      <QueryView query={request} skeleton={<Skeleton h={360} />}>
        {(detail) => <Facts detail={detail} />}
      </QueryView>
    </Stack>
  );
}

function Facts({ detail }: { readonly detail: UsageDetail }) {
  return (
    <>
      <SimpleGrid cols={2} spacing="md" verticalSpacing="md">
        <Fact name="Time">
          <DateTime at={detail.created_at} />
        </Fact>
        <Fact name="Outcome">
          <OutcomeBadge outcome={detail.outcome} />
        </Fact>
        <Fact name="Model">
          <AppLink
            to="/models"
            search={(before) => ({
              account: before.account,
              mode: before.mode,
              open: detail.model.id,
            })}
          >
            {detail.model.name}
          </AppLink>
        </Fact>
        <Fact name="Key">{detail.key.name || <Code>{detail.key.id}</Code>}</Fact>
        <Fact name="Endpoint">
          {endpointName(detail.endpoint)}
          {detail.streamed ? ', streamed' : ''}
        </Fact>
        <Fact name="Served by">
          {detail.provider}
          {detail.attempts > 1 ? ` after ${detail.attempts} calls` : ''}
        </Fact>
        <Fact name="Duration">
          {detail.duration_ms === null ? '–' : durationText(detail.duration_ms)}
        </Fact>
        <Fact name="Time to first token">
          {detail.first_byte_ms === null ? '–' : durationText(detail.first_byte_ms)}
        </Fact>
      </SimpleGrid>
      <section>
        <Title order={3} mb="xs">
          Cost
        </Title>
        <CostTable detail={detail} />
        <Text size="sm" c="dimmed" mt="xs">
          {detail.usage_source === 'upstream'
            ? 'The provider counted the tokens.'
            : 'The gateway counted the tokens because the provider did not report them.'}{' '}
          Price version {detail.price_version}. The total is rounded up to a millionth of a dollar.
        </Text>
      </section>
      <SimpleGrid cols={2} spacing="md">
        <Fact name="Held in advance">
          <Money micros={detail.hold_micros} />
        </Fact>
        {detail.loss_micros > 0 && (
          <Fact name="Not charged">
            <Money micros={detail.loss_micros} />
            <Text size="xs" c="dimmed">
              This part of the cost exceeded the balance or a cap.
            </Text>
          </Fact>
        )}
      </SimpleGrid>
    </>
  );
}

type Line = { readonly name: string; readonly count: number; readonly price: string };

function linesOf({ tokens, price, images, web_searches: searches }: UsageDetail): readonly Line[] {
  const perMillion = (micros: number | undefined) =>
    micros === undefined ? '' : `${usdText(micros)} / M`;
  const each = (micros: number | undefined) =>
    micros === undefined ? '' : `${usdText(Math.ceil(micros))} each`;
  const isByTokens = price !== null && price.request_micros > 0;
  const lines = [
    { name: 'Input', count: tokens.input, price: perMillion(price?.input_micros) },
    { name: 'Cached input', count: tokens.cache_read, price: perMillion(price?.cache_read_micros) },
    {
      name: 'Cache write',
      count: tokens.cache_write,
      price: perMillion(price?.cache_write_micros),
    },
    {
      name: 'Cache write, 1 hour',
      count: tokens.cache_write_1h,
      price: perMillion(price?.cache_write_1h_micros),
    },
    { name: 'Output', count: tokens.output, price: perMillion(price?.output_micros) },
    { name: 'Images', count: images, price: isByTokens ? 'by tokens' : each(price?.image_micros) },
    { name: 'Web searches', count: searches, price: each(price?.web_search_micros) },
  ];
  const isTokens = tokens.input + tokens.output > 0;
  return lines.filter(
    ({ name, count }) => count > 0 || (isTokens && (name === 'Input' || name === 'Output')),
  );
}

function CostTable({ detail }: { readonly detail: UsageDetail }) {
  return (
    <Table fz="md" verticalSpacing={6}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Item</Table.Th>
          <Table.Th ta="right">Count</Table.Th>
          <Table.Th ta="right">Price</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {linesOf(detail).map(({ name, count, price }) => (
          <Table.Tr key={name}>
            <Table.Th scope="row" fw={400}>
              {name}
              {name === 'Output' && detail.tokens.reasoning > 0 && (
                <Text span size="sm" c="dimmed">
                  {' '}
                  (including {countText(detail.tokens.reasoning)} for reasoning)
                </Text>
              )}
            </Table.Th>
            <Table.Td ta="right">{countText(count)}</Table.Td>
            <Table.Td ta="right">{price}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
      <Table.Tfoot>
        <Table.Tr>
          <Table.Th scope="row" colSpan={2}>
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
