// The details of one request: why it failed, where it went, and what it cost.
import {
  Alert,
  Anchor,
  Badge,
  Code,
  Group,
  SimpleGrid,
  Skeleton,
  Stack,
  Table,
  Tabs,
  Text,
  Title,
} from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import type { RequestDetail } from '../../../src/management/contract/requests.ts';
import { useAccountInSight } from '../../api/account-in-sight.ts';
import { useIsAtLeast } from '../../api/account.ts';
import { useApi } from '../../api/use-api.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { DetailDrawer } from '../../parts/detail-drawer.tsx';
import { missText } from '../../parts/cache-miss.ts';
import { Fact } from '../../parts/fact.tsx';
import { AccountLink } from '../../parts/account-link.tsx';
import { AppLink } from '../../parts/link.tsx';
import { loadAgain } from '../../parts/load-again.ts';
import { Money } from '../../parts/money.tsx';
import { countText, durationText } from '../../parts/number-text.ts';
import { QueryView } from '../../parts/query-view.tsx';
import { DateTime } from '../../parts/time-ago.tsx';
import { CostTable } from './cost-table.tsx';
import { StatusBadge, usageText } from './request-columns.tsx';
import { NeighbourButtons, RepeatButtons, type Neighbours } from './request-actions.tsx';
import { Body, KeptBodies } from './request-bodies.tsx';
import { endpointName, finishName, isChatFormat } from './request-filters.ts';
import { WithCode } from '../../parts/with-code.tsx';

const RequestConversation = lazy(
  loadAgain(async () => ({
    default: (await import('./request-conversation.tsx')).RequestConversation,
  })),
);

type Props = {
  /** Null closes the drawer. */
  readonly requestId: string | null;
  readonly neighbours: Neighbours;
  readonly onShow: (requestId: string) => void;
  readonly onClose: () => void;
};

export function RequestDrawer({ requestId, neighbours, onShow, onClose }: Props) {
  return (
    <DetailDrawer item={requestId} onClose={onClose} title={() => 'Request'}>
      {(shown) => <Details requestId={shown} neighbours={neighbours} onShow={onShow} />}
    </DetailDrawer>
  );
}

type DetailsProps = Omit<Props, 'requestId' | 'onClose'> & { readonly requestId: string };

function Details({ requestId, neighbours, onShow }: DetailsProps) {
  // Stays when the reader goes to the next request, except an operator, whose looks at bodies are
  // recorded: only a click opens one.
  const [tab, setTab] = useState<string | null>('details');
  const [last, setLast] = useState(requestId);
  const isInSight = useAccountInSight() !== null;
  if (last !== requestId) {
    setLast(requestId);
    if (isInSight) setTab('details');
  }
  const request = useApi('GET /accounts/:account/requests/:request', {
    params: { request: requestId },
  });
  return (
    <Stack gap="lg">
      <Group justify="space-between" wrap="nowrap">
        <CopiedCode text={requestId} label="Copy request ID" />
        <NeighbourButtons neighbours={neighbours} onShow={onShow} />
      </Group>
      <QueryView query={request} skeleton={<Skeleton h={360} />}>
        {(detail) => (
          <>
            <RepeatButtons detail={detail} />
            <Inspector detail={detail} tab={tab} setTab={setTab} />
          </>
        )}
      </QueryView>
    </Stack>
  );
}

type InspectorProps = {
  readonly detail: RequestDetail;
  readonly tab: string | null;
  readonly setTab: (tab: string | null) => void;
};

/** Owners, admins and operators also see the bodies, if the key keeps them. */
function Inspector({ detail, tab, setTab }: InspectorProps) {
  const isAdmin = useIsAtLeast('admin');
  const isInSight = useAccountInSight() !== null;
  if (!isAdmin && !isInSight) return <About detail={detail} />;
  const { endpoint } = detail;
  const place = { requestId: detail.request_id, keyId: detail.key.id };
  const hasTalk = isChatFormat(endpoint);
  return (
    <Tabs
      value={tab === 'conversation' && !hasTalk ? 'request' : tab}
      onChange={setTab}
      keepMounted={false}
    >
      <Tabs.List aria-label="Parts of the request" mb="lg">
        <Tabs.Tab value="details">Details</Tabs.Tab>
        {hasTalk && <Tabs.Tab value="conversation">Conversation</Tabs.Tab>}
        <Tabs.Tab value="request">Request</Tabs.Tab>
        <Tabs.Tab value="answer">Answer</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="details">
        <About detail={detail} />
      </Tabs.Panel>
      {isInSight && (
        <Text size="sm" c="dimmed" mb="sm">
          Opening a body is recorded in the account’s audit log. So is copying it.
        </Text>
      )}
      {hasTalk && (
        <Tabs.Panel value="conversation">
          <KeptBodies {...place}>
            {(kept) => (
              <Suspense fallback={<Skeleton h={240} />}>
                <RequestConversation kept={kept} format={endpoint} />
              </Suspense>
            )}
          </KeptBodies>
        </Tabs.Panel>
      )}
      <Tabs.Panel value="request">
        <KeptBodies {...place}>{(kept) => <Body kept={kept} part="request" />}</KeptBodies>
      </Tabs.Panel>
      <Tabs.Panel value="answer">
        <KeptBodies {...place}>{(kept) => <Body kept={kept} part="answer" />}</KeptBodies>
      </Tabs.Panel>
    </Tabs>
  );
}

function About({ detail }: { readonly detail: RequestDetail }) {
  return (
    <Stack gap="lg">
      {detail.error && <ErrorPart detail={detail} error={detail.error} />}
      <Facts detail={detail} />
      <Tries detail={detail} />
      {detail.charge && <CostPart charge={detail.charge} />}
    </Stack>
  );
}

function CopiedCode({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <Group gap={6} wrap="nowrap">
      <Code fz="sm" style={{ overflowWrap: 'anywhere' }}>
        {text}
      </Code>
      <CopyButton text={text} label={label} />
    </Group>
  );
}

/** One sentence says what happened, the exactest that is known; another what to do. */
function ErrorPart({ detail, error }: { readonly detail: RequestDetail; readonly error: Failure }) {
  const { code, message, param, meaning, remedy, documentation_url: address } = error;
  return (
    <Alert
      color="red"
      icon={<IconAlertTriangle aria-hidden />}
      title={<WithCode text={causeOf(detail, error) ?? message ?? meaning} />}
    >
      <Stack gap={6}>
        <Text size="sm">
          <WithCode text={remedy} />
        </Text>
        <Group gap="md">
          {param !== null && (
            <Text size="sm">
              Field <Code>{param}</Code>
            </Text>
          )}
          <Anchor href={address} size="sm" inherit={false}>
            About {code}
          </Anchor>
        </Group>
      </Stack>
    </Alert>
  );
}

function Facts({ detail }: { readonly detail: RequestDetail }) {
  const { charge, history } = detail;
  return (
    <SimpleGrid cols={2} spacing="md" verticalSpacing="md">
      <Fact name="Time">
        <DateTime at={detail.created_at} zoned />
      </Fact>
      <Fact name="Status">
        <StatusBadge record={detail} />
      </Fact>
      <Fact name="Model">
        <ModelFact detail={detail} />
      </Fact>
      <Fact name="Key">
        <AccountLink page="keys" filters={{ key: detail.key.id }}>
          {detail.key.name || detail.key.id}
        </AccountLink>
      </Fact>
      <Fact name="Endpoint">
        {endpointName(detail.endpoint)}
        {detail.streamed ? ', streamed' : ''}
      </Fact>
      <Fact name="Mode">{detail.mode === 'live' ? 'Live' : 'Test'}</Fact>
      {!charge && detail.input_tokens > 0 && <Fact name="Usage">{usageText(detail)}</Fact>}
      {charge && (
        <Fact name="Served by">
          {charge.provider}
          {charge.attempts > 1 ? ` after ${charge.attempts} calls` : ''}
        </Fact>
      )}
      <Fact name="Duration">
        {detail.duration_ms === null ? '–' : durationText(detail.duration_ms)}
      </Fact>
      {detail.streamed && (
        <Fact name="Time to first token">
          {detail.first_token_ms === null ? '–' : durationText(detail.first_token_ms)}
        </Fact>
      )}
      {detail.finish !== null && <Fact name="Finish">{finishName(detail.finish)}</Fact>}
      {detail.tags.length > 0 && (
        <Fact name="Tags">
          <Group gap={6}>
            {detail.tags.map((tag) => (
              <AccountLink key={tag} page="requests" filters={{ tag }}>
                {tag}
              </AccountLink>
            ))}
          </Group>
        </Fact>
      )}
      {detail.client !== null && (
        <Fact name="Client">
          <AccountLink page="requests" filters={{ client: detail.client }}>
            {detail.client}
          </AccountLink>
        </Fact>
      )}
      {history?.address && (
        <Fact name="Client address">
          <Code>{history.address}</Code>
        </Fact>
      )}
      {history?.client_gone && (
        <Fact name="Connection">The client left before the end of the answer</Fact>
      )}
      {history?.trace_id && (
        <Fact name="Trace">
          <CopiedCode text={history.trace_id} label="Copy trace ID" />
        </Fact>
      )}
      {detail.saved_micros > 0 && (
        <Fact name="Saved">
          <Money micros={detail.saved_micros} />
        </Fact>
      )}
    </SimpleGrid>
  );
}

function ModelFact({ detail: { model, history } }: { readonly detail: RequestDetail }) {
  const asked = history?.asked_model ?? null;
  const isInSight = useAccountInSight() !== null;
  if (!model) return asked === null ? '–' : <Code>{asked}</Code>;
  return (
    <>
      {isInSight ? (
        model.name
      ) : (
        <AppLink
          to="/models"
          search={(before) => ({ account: before.account, mode: before.mode, open: model.id })}
        >
          {model.name}
        </AppLink>
      )}
      {asked !== null && asked !== model.id && (
        <Text size="sm" c="dimmed">
          Asked for as <Code>{asked}</Code>
        </Text>
      )}
    </>
  );
}

const failureNames: Readonly<Record<string, string>> = {
  status: 'Error status',
  connection: 'No connection',
  timeout: 'Timeout',
  'broken-stream': 'Answer broke off',
  unreadable: 'Unreadable answer',
};

type Failure = NonNullable<RequestDetail['error']>;

/**
 * Returns how the last call failed, where the message says less: no provider's words are kept, and the
 * gateway's own are the same for all failures. null: no call failed.
 */
function causeOf({ history, charge }: RequestDetail, { code, message }: Failure): string | null {
  const last = history?.tries.at(-1);
  const saysLess = message === null || (code.startsWith('upstream_') && !charge);
  if (!saysLess || last?.ending !== 'failed') return null;
  const what = last.status === null ? failureNames[last.failure ?? ''] : `status ${last.status}`;
  if (what === undefined) return null;
  const free = charge ? '' : ' Nothing was charged.';
  return `The last call failed: ${last.provider}, ${what.toLowerCase()}.${free}`;
}

/** Shown when there was more than one call, or when the only one failed. */
function Tries({ detail: { history } }: { readonly detail: RequestDetail }) {
  const tries = history?.tries ?? [];
  if (tries.length < 2 && !tries.some(({ ending }) => ending === 'failed')) return null;
  return (
    <section>
      <Title order={3} mb="xs">
        Calls to providers
      </Title>
      <Table fz="sm" verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Provider</Table.Th>
            <Table.Th>Result</Table.Th>
            <Table.Th ta="right">Time</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {tries.map((one, index) => (
            <Table.Tr key={index}>
              <Table.Td>
                {one.provider}
                <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                  {one.model}
                </Text>
              </Table.Td>
              <Table.Td>
                {one.ending === 'answered' ? (
                  <Badge size="sm" color="green" tt="none">
                    Answered
                  </Badge>
                ) : (
                  <Badge size="sm" color="red" tt="none">
                    {one.status ?? failureNames[one.failure ?? ''] ?? one.failure}
                  </Badge>
                )}
              </Table.Td>
              <Table.Td ta="right">{durationText(one.ms)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}

function CostPart({ charge }: { readonly charge: NonNullable<RequestDetail['charge']> }) {
  const hasTokens = charge.input_tokens + charge.output_tokens > 0;
  return (
    <section>
      <Title order={3} mb="xs">
        Cost
      </Title>
      <CostTable detail={charge} />
      <Text size="sm" c="dimmed" mt="xs">
        {hasTokens &&
          (charge.usage_source === 'upstream'
            ? 'The provider counted the tokens. '
            : 'The gateway counted the tokens because the provider did not report them. ')}
        Price version {charge.price_version}.
      </Text>
      <SimpleGrid cols={2} spacing="md" mt="md">
        <Fact name="Held in advance">
          <Money micros={charge.hold_micros} />
        </Fact>
        {charge.loss_micros > 0 && (
          <Fact name="Not charged">
            <Money micros={charge.loss_micros} />
            <Text size="xs" c="dimmed">
              This part of the cost exceeded the balance or a cap.
            </Text>
          </Fact>
        )}
        {charge.cache_miss && (
          <Fact name="Not read from the cache">{missText(charge.cache_miss)}</Fact>
        )}
        {charge.tokens.reasoning > 0 && (
          <Fact name="Reasoning">{countText(charge.tokens.reasoning)} tokens of the output</Fact>
        )}
      </SimpleGrid>
    </section>
  );
}
