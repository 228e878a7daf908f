import { Stack } from '@mantine/core';
import { useState } from 'react';
import { useMode, useSetMode, type Mode } from '../../app/account.ts';
import type { Output } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { useApi } from '../../api/use-api.ts';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { CostPanel } from './cost-panel.tsx';
import { ErrorsPanel } from './errors-panel.tsx';
import { FirstRun, type MadeKey } from './first-run.tsx';
import { TryTestMode } from './try-test-mode.tsx';
import { ActivityStats, MoneyStats } from './stats.tsx';

export function Page() {
  const mode = useMode();
  // Its text is shown this once, so it stays when the mode is changed.
  const [made, setMade] = useState<MadeKey | null>(null);
  return (
    <>
      <PageHeader title="Overview" />
      <OverviewOf key={mode} mode={mode} made={made} onMade={setMade} />
    </>
  );
}

type Props = { readonly mode: Mode; readonly made: MadeKey | null; readonly onMade: (key: MadeKey) => void };

function OverviewOf({ mode, made, onMade }: Props) {
  const query = useApi('GET /accounts/:account/overview', { query: { mode } }, { refetchMs: 30_000 });
  const { data: overview, error } = query;
  // Once shown it stays, so that the answer to the first request does not vanish with it.
  const [isFirstRun, setFirstRun] = useState(false);
  if (overview && !overview.has_charges && !isFirstRun) setFirstRun(true);
  if (error && !overview) return <ErrorNotice error={error} onRetry={() => void query.refetch()} />;
  return (
    <Stack gap="md">
      {isFirstRun && overview && <Welcome overview={overview} mode={mode} made={made} onMade={onMade} />}
      <MoneyStats overview={overview} />
      {overview?.has_charges !== false && (
        <>
          <CostPanel mode={mode} />
          <ActivityStats overview={overview} />
        </>
      )}
      {overview && <ErrorsPanel overview={overview} />}
    </Stack>
  );
}

/** Whoever has no money yet is shown the way that needs none. */
function Welcome({ overview, mode, ...props }: Props & { readonly overview: Output<'GET /accounts/:account/overview'> }) {
  const { test_mode: hasTestMode } = useSession().features;
  const setMode = useSetMode();
  const isBroke = overview.balance.available_micros <= 0 && !overview.has_charges;
  if (mode === 'live' && isBroke && hasTestMode) return <TryTestMode onTest={() => setMode('test')} />;
  return <FirstRun mode={mode} {...props} />;
}
