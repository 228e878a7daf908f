// What an operator should look at: next steps, balances that run out, providers in trouble.
import { Anchor, Badge, Group, List, Skeleton, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Output } from '../../../api/client.ts';
import { AppLink } from '../../../parts/link.tsx';
import { Loading } from '../../../parts/loading.tsx';
import { Money } from '../../../parts/money.tsx';
import { shareText } from '../../../parts/number-text.ts';
import { Panel } from '../../../parts/panel.tsx';
import { TimeAgo } from '../../../parts/time-ago.tsx';

type Attention = Output<'GET /operator/attention'>;
type Props = { readonly attention: Attention | undefined };

/** Shown only when there is something to do. `hides`: areas that the page shows elsewhere. */
export function NextSteps({ attention, hides }: Props & { readonly hides: readonly string[] }) {
  const steps = attention?.next_steps.filter(({ area }) => !hides.includes(area)) ?? [];
  if (!attention || steps.length === 0) return null;
  return (
    <Panel
      title="What to do next"
      description={
        <>
          Last backup: <TimeAgo at={attention.last_backup_at} never="none recorded" />
        </>
      }
    >
      <List spacing="sm">
        {steps.map(({ area, what, remedy }) => (
          <List.Item key={what} style={{ overflowWrap: 'anywhere' }}>
            {what}{' '}
            {remedy !== null && (
              <Text span inherit c="dimmed">
                {remedy}
              </Text>
            )}{' '}
            <StepLink area={area} />
          </List.Item>
        ))}
      </List>
    </Panel>
  );
}

function StepLink({ area }: { readonly area: string }) {
  switch (area) {
    case 'providers':
      return (
        <AppLink to="/operator/providers" underline="always">
          Providers
        </AppLink>
      );
    case 'models':
      return (
        <AppLink to="/operator/catalogue" underline="always">
          Catalogue
        </AppLink>
      );
    case 'backup':
      return (
        <Anchor href="/docs/operations#backup" underline="always">
          How to make one
        </Anchor>
      );
    case 'mail':
      return (
        <Anchor href="/docs/configuration" underline="always">
          Mail settings
        </Anchor>
      );
    default:
      return (
        <AppLink to="/operator/settings" underline="always">
          Configuration
        </AppLink>
      );
  }
}

export function LowBalances({ attention }: Props) {
  return (
    <Panel
      title="Balances running out"
      description="Live balances that last less than 7 days at the average spend of the last 7 complete UTC days."
    >
      <Lines
        rows={attention?.low_balances}
        none="Every balance that is in use lasts longer."
        keyOf={({ account }) => account.id}
        render={({
          account,
          available_micros: available,
          daily_micros: daily,
          days_left: days,
        }) => (
          <Group justify="space-between" gap="xs">
            <AppLink to="/operator/accounts/$accountId" params={{ accountId: account.id }}>
              {account.name || account.id}
            </AppLink>
            <Text size="sm">
              <Money short micros={available} />,{' '}
              {available <= 0 ? 'used up' : days === 0 ? 'less than a day' : `${days} d`}{' '}
              <Text span inherit c="dimmed">
                at <Money short micros={daily} /> a day
              </Text>
            </Text>
          </Group>
        )}
      />
    </Panel>
  );
}

export function TroubledRoutes({ attention }: Props) {
  const routes = attention?.routes.map((route) => ({ ...route, kind: 'route' as const }));
  const providers = attention?.providers.map((each) => ({ ...each, kind: 'provider' as const }));
  return (
    <Panel
      title="Failing routes"
      description={
        <>
          Routes that this gateway has stopped using, and providers with failed calls in the last 24
          hours. <AppLink to="/operator/providers">All providers</AppLink>
        </>
      }
    >
      <Lines
        rows={routes && providers && [...routes, ...providers]}
        none="No route is out of use, and no call has failed."
        keyOf={(row) => (row.kind === 'route' ? `${row.provider} ${row.model}` : row.name)}
        render={(row) =>
          row.kind === 'route' ? (
            <Group justify="space-between" gap="xs">
              <AppLink to="/operator/providers">
                {row.provider}, {row.model}
              </AppLink>
              <Group gap={6}>
                <Badge color={row.state === 'ejected' ? 'red' : 'orange'}>
                  {row.state === 'ejected' ? 'Out of use' : 'Probing'}
                </Badge>
                <Text size="sm" c="dimmed">
                  {row.reason === 'refused' ? 'credential refused' : 'calls fail'}
                </Text>
              </Group>
            </Group>
          ) : (
            <Group justify="space-between" gap="xs">
              <AppLink to="/operator/providers">{row.name}</AppLink>
              <Text size="sm">
                {row.failures} of {row.calls} calls failed{' '}
                <Text span inherit c="dimmed">
                  ({shareText(row.failures / row.calls)})
                </Text>
              </Text>
            </Group>
          )
        }
      />
    </Panel>
  );
}

type LinesProps<Row> = {
  /** Undefined while loading. */
  readonly rows: readonly Row[] | undefined;
  readonly none: string;
  readonly keyOf: (row: Row) => string;
  readonly render: (row: Row) => ReactNode;
};

export function Lines<Row>({ rows, none, keyOf, render }: LinesProps<Row>) {
  if (!rows) {
    return (
      <Loading>
        <Skeleton h={14} w="70%" />
      </Loading>
    );
  }
  if (rows.length === 0) return <Text c="dimmed">{none}</Text>;
  return (
    <Stack gap="xs" component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
      {rows.map((row) => (
        <li key={keyOf(row)}>{render(row)}</li>
      ))}
    </Stack>
  );
}
