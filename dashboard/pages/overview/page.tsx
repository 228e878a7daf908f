import { Button, Group, Stack } from '@mantine/core';
import { IconFlask } from '@tabler/icons-react';
import { useState } from 'react';
import { useMode, useSetMode, type Mode } from '../../api/account.ts';
import type { Output } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { useApi } from '../../api/use-api.ts';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { ButtonLink } from '../../parts/link.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { Panel } from '../../parts/panel.tsx';
import { useRange } from '../../parts/range-picker.tsx';
import type { DayRange } from '../../parts/utc-days.ts';
import { DaysPart } from './days-part.tsx';
import { RecentErrors } from './recent-errors.tsx';
import { FirstRun } from './first-run.tsx';
import { BalancePanel } from './balance-panel.tsx';

type CreatedKey = Output<'POST /accounts/:account/keys'>;

export function Page() {
  const mode = useMode();
  // The secret is shown only once, so it survives a change of mode.
  const [created, setCreated] = useState<CreatedKey | null>(null);
  const { range, picker } = useRange();
  return (
    <>
      <PageHeader title="Overview" actions={picker} />
      <Overview key={mode} mode={mode} range={range} created={created} onCreated={setCreated} />
    </>
  );
}

type Props = {
  readonly mode: Mode;
  readonly created: CreatedKey | null;
  readonly onCreated: (key: CreatedKey) => void;
};

function Overview({ range, ...props }: Props & { readonly range: DayRange }) {
  const query = useApi(
    'GET /accounts/:account/overview',
    { query: { mode: props.mode } },
    { refetchMs: 30_000 },
  );
  const { data: overview, error } = query;
  // Stays true, so that the answer to the first request does not disappear.
  const [isFirstRun, setFirstRun] = useState(false);
  if (overview && !overview.has_charges && !isFirstRun) setFirstRun(true);
  if (error && !overview) return <ErrorNotice error={error} onRetry={() => void query.refetch()} />;
  return (
    <Stack gap="md">
      {isFirstRun && overview && <Welcome overview={overview} {...props} />}
      <BalancePanel overview={overview} mode={props.mode} />
      {overview?.has_charges !== false && <DaysPart mode={props.mode} range={range} />}
      {overview && <RecentErrors errors={overview.recent_errors} />}
    </Stack>
  );
}

/** Suggests test mode to accounts without money. */
function Welcome({
  overview,
  mode,
  ...props
}: Props & { readonly overview: Output<'GET /accounts/:account/overview'> }) {
  const { test_mode: hasTestMode } = useSession().features;
  const setMode = useSetMode();
  const hasNoMoney = overview.balance.available_micros <= 0 && !overview.has_charges;
  if (mode === 'live' && hasNoMoney && hasTestMode)
    return <TryTestMode onTest={() => setMode('test')} />;
  return <FirstRun mode={mode} {...props} />;
}

/** For accounts without money. */
function TryTestMode({ onTest }: { readonly onTest: () => void }) {
  return (
    <Panel
      title="Start in test mode"
      description="The sandbox answers like a model would and spends only play money. Live requests need a balance."
    >
      <Group gap="sm">
        <Button leftSection={<IconFlask size={16} aria-hidden />} onClick={onTest}>
          Try it in test mode
        </Button>
        <ButtonLink to="/billing" variant="default">
          Billing
        </ButtonLink>
      </Group>
    </Panel>
  );
}
