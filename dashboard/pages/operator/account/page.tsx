// One account, with everything an operator can do for it.
import {
  Alert,
  Anchor,
  Badge,
  Button,
  Group,
  SegmentedControl,
  SimpleGrid,
  Stack,
  Tabs,
  Text,
} from '@mantine/core';
import {
  IconAlertTriangle,
  IconMinus,
  IconPlus,
  IconSnowflake,
  IconSun,
} from '@tabler/icons-react';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useUrlState } from '../../../parts/url-state.ts';
import type { Mode } from '../../../api/account.ts';
import { InSight } from '../../../api/account-in-sight.ts';
import { apiPath, type Output } from '../../../api/client.ts';
import { useSession } from '../../../api/session.ts';
import { useApi, useApiPages, useChange } from '../../../api/use-api.ts';
import { confirm } from '../../../parts/confirm.tsx';
import { CopyButton } from '../../../parts/copy-button.tsx';
import { AppLink } from '../../../parts/link.tsx';
import { Money } from '../../../parts/money.tsx';
import { showSuccess } from '../../../parts/notify.ts';
import { OwnKeysTable } from '../../../parts/own-keys-table.tsx';
import { PageHeader } from '../../../parts/page-header.tsx';
import { Panel } from '../../../parts/panel.tsx';
import { QueryView } from '../../../parts/query-view.tsx';
import { Stat } from '../../../parts/stat.tsx';
import { StatementTable, useStatementKinds } from '../../../parts/statement-table.tsx';
import { TimeAgo } from '../../../parts/time-ago.tsx';
import { AuditTable } from '../../../parts/audit-table.tsx';
import { AutoTopUpFacts } from '../../../parts/auto-top-up-facts.tsx';
import { useRange } from '../../../parts/range-picker.tsx';
import { Analytics } from '../../analytics/page.tsx';
import { Batches } from '../../batches/page.tsx';
import { KeyDrawer } from '../../keys/key-drawer.tsx';
import { Requests } from '../../requests/page.tsx';
import { OperatorKeys } from '../operator-keys.tsx';
import { AdjustDialog } from './adjust-dialog.tsx';
import { Members } from './members.tsx';
import { ModelPrices } from './model-prices.tsx';
import { Retention } from './retention.tsx';
import { TermsForm } from './terms-form.tsx';

type Account = Output<'GET /operator/accounts/:account'>;

const tabs = [
  'statement',
  'requests',
  'batches',
  'analytics',
  'keys',
  'terms',
  'members',
  'audit',
] as const;
type Tab = (typeof tabs)[number];
const labels: Readonly<Record<Tab, string>> = {
  statement: 'Statement',
  requests: 'Requests',
  batches: 'Batches',
  analytics: 'Analytics',
  terms: 'Prices and limits',
  members: 'Members',
  keys: 'Keys',
  audit: 'Audit log',
};

export function Page() {
  const { accountId } = useParams({ from: '/app/operator/accounts/$accountId' });
  const account = useApi('GET /operator/accounts/:account', { params: { account: accountId } });
  return (
    <QueryView query={account}>{(data) => <AccountPage key={data.id} account={data} />}</QueryView>
  );
}

function AccountPage({ account }: { readonly account: Account }) {
  const [{ tab, mode, adjusting, openKey }, setState] = useUrlState(
    ({ tab: name, ledger, adjust, key }) => ({
      openKey: key ?? null,
      tab: tabs.find((known) => known === name) ?? ('statement' as const),
      mode: ledger === 'test' ? ('test' as const) : ('live' as const),
      adjusting:
        adjust === 'credit' ? ('credit' as const) : adjust === 'debit' ? ('debit' as const) : null,
    }),
  );
  const balance = account[mode];
  const navigate = useNavigate();
  const { stripe: hasStripe } = useSession().features;
  return (
    <>
      <PageHeader
        title={account.name}
        description={
          <Group component="span" gap={4}>
            <AppLink to="/operator/accounts">Accounts</AppLink>
            <Text span inherit>
              · {account.id}
            </Text>
            <CopyButton text={account.id} label="Copy ID" />
            <Text span inherit>
              · created <TimeAgo at={account.created_at} />
            </Text>
          </Group>
        }
        actions={
          <>
            <Button
              variant="default"
              leftSection={<IconMinus size={16} aria-hidden />}
              onClick={() => setState({ adjust: 'debit' }, { push: true })}
            >
              Debit
            </Button>
            <Button
              leftSection={<IconPlus size={16} aria-hidden />}
              onClick={() => setState({ adjust: 'credit' }, { push: true })}
            >
              Credit
            </Button>
          </>
        }
      />
      <Stack>
        {account.loss_budget_exceeded && (
          <Alert
            color="orange"
            icon={<IconAlertTriangle aria-hidden />}
            title="Loss budget exceeded"
          >
            This account caused losses of <Money micros={account.provoked_loss_micros} /> in the
            last 30 days, so its new live requests are refused. To allow them again, run{' '}
            <code>npx tollgate accounts update {account.id} --forgive-losses</code>.
          </Alert>
        )}
        {account.frozen && <FreezeControl account={account} />}
        <Group justify={account.frozen ? 'flex-end' : 'space-between'} gap="sm">
          {!account.frozen && <FreezeControl account={account} />}
          <SegmentedControl
            aria-label="Ledger"
            data={[
              { value: 'live', label: 'Live' },
              { value: 'test', label: 'Test' },
            ]}
            value={mode}
            onChange={(value) => setState({ ledger: value === 'test' ? value : undefined })}
          />
        </Group>
        {!hasStripe && mode === 'live' && account.live.available_micros <= 0 && (
          <Text size="sm" c="dimmed">
            Its live requests are refused until it has credit. Card payments are not set up, so only
            operators add it: here, or with{' '}
            <code>npx tollgate accounts credit {account.id} --usd 25</code>.{' '}
            <Anchor href="/docs/billing" underline="always">
              Set up Stripe
            </Anchor>
          </Text>
        )}
        <SimpleGrid cols={{ base: 1, sm: 3 }}>
          <Stat
            label="Available"
            value={<Money micros={balance.available_micros} short />}
            hint={mode === 'test' ? 'Play money' : 'Live balance'}
          />
          <Stat
            label="Held by running requests and waiting batches"
            value={<Money micros={balance.held_micros} short />}
          />
          <Stat
            label="Posted"
            value={<Money micros={balance.posted_micros} short />}
            hint="Credits minus debits and charges"
          />
        </SimpleGrid>
        <Tabs
          value={tab}
          onChange={(name) =>
            // Without the filters of the tab before.
            void navigate({
              to: '.',
              search: ({ account: own, mode: ownMode, ledger }) => ({
                account: own,
                mode: ownMode,
                ledger,
                tab: name === 'statement' ? undefined : (name ?? undefined),
              }),
              resetScroll: false,
            })
          }
          keepMounted={false}
        >
          <Tabs.List mb="md">
            {tabs.map((name) => (
              <Tabs.Tab key={name} value={name}>
                {labels[name]}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          <Tabs.Panel value="statement">
            <Statement accountId={account.id} mode={mode} />
          </Tabs.Panel>
          <InSight value={{ account: { ...account, role: 'viewer' }, mode }}>
            <Tabs.Panel value="requests">
              <Requests />
            </Tabs.Panel>
            <Tabs.Panel value="batches">
              <Batches />
            </Tabs.Panel>
            <Tabs.Panel value="analytics">
              <AnalyticsInSight />
            </Tabs.Panel>
            <Tabs.Panel value="keys">
              <OperatorKeys
                filters={{ account: account.id, mode }}
                onOpen={({ id }) => setState({ key: id }, { push: true })}
              />
              <KeyDrawer keyId={openKey} onClose={() => setState({ key: undefined })} />
            </Tabs.Panel>
            <Tabs.Panel value="terms">
              <Stack>
                <TermsForm account={account} />
                <ModelPrices account={account} />
                <OwnKeysInSight />
                <AutoTopUpInSight />
                <Retention account={account} />
              </Stack>
            </Tabs.Panel>
            <Tabs.Panel value="members">
              <Members />
            </Tabs.Panel>
          </InSight>
          <Tabs.Panel value="audit">
            <Changes accountId={account.id} />
          </Tabs.Panel>
        </Tabs>
      </Stack>
      <AdjustDialog
        account={account}
        mode={mode}
        kind={adjusting}
        onClose={() => setState({ adjust: undefined })}
      />
    </>
  );
}

/** Only owners change it. */
function AutoTopUpInSight() {
  const autoTopUp = useApi('GET /accounts/:account/auto-top-up', {});
  if (autoTopUp.data?.is_available === false) return null;
  return (
    <Panel title="Automatic top-up">
      <QueryView query={autoTopUp}>
        {(data) => (
          <Stack>
            <AutoTopUpFacts autoTopUp={data} remedy="an owner acts" />
          </Stack>
        )}
      </QueryView>
    </Panel>
  );
}

/** Only owners change them. */
function OwnKeysInSight() {
  const ownKeys = useApi('GET /accounts/:account/own-keys', {});
  return (
    <Panel title="Own keys" description="Keys of providers that the account brings." flush>
      <QueryView query={ownKeys}>{({ keys }) => <OwnKeysTable keys={keys} />}</QueryView>
    </Panel>
  );
}

function AnalyticsInSight() {
  const { range, picker } = useRange();
  return (
    <Stack gap="md">
      <Group justify="flex-end">{picker}</Group>
      <Analytics range={range} />
    </Stack>
  );
}

function Statement({ accountId, mode }: { readonly accountId: string; readonly mode: Mode }) {
  const { query: kinds, choice } = useStatementKinds();
  const pages = useApiPages('GET /operator/accounts/:account/statement', {
    params: { account: accountId },
    query: { mode, ...kinds },
  });
  return (
    <Panel
      title="Statement"
      actions={
        <>
          {choice}
          <Anchor
            size="sm"
            download
            href={`${apiPath}/operator/accounts/${accountId}/statement.csv?mode=${mode}`}
          >
            Download CSV
          </Anchor>
        </>
      }
      flush
    >
      <StatementTable pages={pages} emptyText="Credits, debits and charges appear here." />
    </Panel>
  );
}

/** Shows whether the account is frozen, and freezes or unfreezes it. */
function FreezeControl({ account }: { readonly account: Account }) {
  const update = useChange('PATCH /operator/accounts/:account', {
    invalidates: ['GET /operator/accounts/:account', 'GET /operator/accounts'],
  });
  const set = async (frozen: boolean) => {
    await update.mutateAsync({ params: { account: account.id }, body: { frozen } });
    showSuccess(frozen ? `${account.name} is frozen.` : `${account.name} is no longer frozen.`);
  };
  if (account.frozen) {
    return (
      <Alert color="orange" icon={<IconSnowflake aria-hidden />} title="This account is frozen">
        <Group justify="space-between">
          <Text inherit>New requests are refused. Balance and keys are unchanged.</Text>
          <Button
            variant="default"
            leftSection={<IconSun size={16} aria-hidden />}
            onClick={() =>
              confirm({
                title: `Unfreeze ${account.name}?`,
                text: 'Its keys work again within seconds.',
                action: 'Unfreeze',
                run: () => set(false),
              })
            }
          >
            Unfreeze
          </Button>
        </Group>
      </Alert>
    );
  }
  return (
    <Group gap="sm">
      <Badge color="green">Active</Badge>
      <Button
        size="xs"
        variant="subtle"
        color="red"
        leftSection={<IconSnowflake size={14} aria-hidden />}
        onClick={() =>
          confirm({
            title: `Freeze ${account.name}?`,
            text: 'New requests are refused within seconds. Running requests finish and are charged.',
            action: 'Freeze',
            danger: true,
            run: () => set(true),
          })
        }
      >
        Freeze…
      </Button>
    </Group>
  );
}

function Changes({ accountId }: { readonly accountId: string }) {
  const query = { account: accountId };
  return <AuditTable isOperator pages={useApiPages('GET /operator/audit-log', { query })} />;
}
