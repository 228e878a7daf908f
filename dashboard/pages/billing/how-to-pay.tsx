// For users who cannot top up here: operators learn how to credit, others whom to ask.
import { Anchor, Group, Stack, Text } from '@mantine/core';
import { useAccount } from '../../api/account.ts';
import type { Output } from '../../api/client.ts';
import { useUser } from '../../api/session.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { ButtonLink } from '../../parts/link.tsx';
import { Panel } from '../../parts/panel.tsx';

type Props = { readonly overview: Output<'GET /accounts/:account/billing'> };

export function HowToPay({ overview }: Props) {
  const { id } = useAccount();
  const { is_operator: isOperator } = useUser();
  if (isOperator && overview.top_up === null) return <HowToCredit accountId={id} />;
  return (
    <Panel title="Add credit">
      <Text>
        {overview.top_up ? (
          'Only owners can top up this account. Ask one of them.'
        ) : overview.contact === null ? (
          'Ask the operator of this service to add credit.'
        ) : (
          <>
            To add credit, contact <Contact text={overview.contact} />.
          </>
        )}
      </Text>
      <Text size="sm" c="dimmed" mt={4}>
        Mention your account ID:{' '}
        <Text span inherit ff="monospace">
          {id}
        </Text>
      </Text>
    </Panel>
  );
}

function HowToCredit({ accountId }: { readonly accountId: string }) {
  return (
    <Panel
      title="Add credit"
      description="Card payments are not set up. Only operators see this panel; others are told whom to ask."
    >
      <Stack gap="sm">
        <Text>Credit this account here or by command, for example after a bank transfer.</Text>
        <Group>
          <ButtonLink
            to="/operator/accounts/$accountId"
            params={{ accountId }}
            search={(before) => ({ ...before, adjust: 'credit' })}
          >
            Credit this account
          </ButtonLink>
        </Group>
        <CodeBlock
          label="Command that credits the account"
          code={`npx tollgate accounts credit ${accountId} --usd 25 --note "Bank transfer"`}
        />
        <Text size="sm" c="dimmed">
          To let owners pay by card, set <code>stripe.secret_key</code> and{' '}
          <code>stripe.webhook_secret</code>:{' '}
          <Anchor href="/docs/billing" underline="always">
            payments by card
          </Anchor>
          .
        </Text>
      </Stack>
    </Panel>
  );
}

/** Links e-mail and web addresses. */
function Contact({ text }: { readonly text: string }) {
  if (/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text))
    return <Anchor href={`mailto:${text}`}>{text}</Anchor>;
  if (/^https?:\/\/\S+$/.test(text)) {
    return (
      <Anchor href={text} rel="noreferrer">
        {text}
      </Anchor>
    );
  }
  return text;
}
