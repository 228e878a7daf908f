// The saved card of an account, when it is charged, and what became of that.
import { Alert, SimpleGrid, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { Output } from '../api/client.ts';
import { Fact } from './fact.tsx';
import { usdText } from './money-text.ts';
import { TimeAgo } from './time-ago.tsx';

export type AutoTopUp = Output<'GET /accounts/:account/auto-top-up'>;
type Problem = NonNullable<AutoTopUp['paused']>['reason'];

const problems: Readonly<Record<Problem, string>> = {
  declined: 'The bank declined the card.',
  'authentication-required': 'The bank wants the owner of the card to confirm the payment.',
  expired: 'The card has expired.',
  refused: 'Stripe refused the payment.',
  returned: 'A payment by card was refunded or disputed.',
  'no-answer': 'Stripe gave no answer, and knows of no payment.',
};

const states = {
  open: 'waiting for Stripe',
  processing: 'waiting for Stripe',
  failed: 'failed',
  paid: 'paid',
} as const;

type Props = {
  readonly autoTopUp: AutoTopUp;
  /** How an owner ends the pause, in a sentence. */
  readonly remedy: string;
};

export function AutoTopUpFacts({ autoTopUp, remedy }: Props) {
  const { card, settings, paused, month_micros: month, last } = autoTopUp;
  return (
    <>
      {paused && (
        <Alert color="orange" icon={<IconAlertTriangle aria-hidden />} title="Paused">
          {problems[paused.reason]} Nothing is charged until {remedy}.
        </Alert>
      )}
      <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }}>
        <Fact name="Card">{card ? cardText(card) : 'None is saved'}</Fact>
        <Fact name="Charged">
          {settings
            ? `${usdText(settings.amount_micros)} below ${usdText(settings.threshold_micros)}`
            : 'Never: it is off'}
        </Fact>
        <Fact name="This UTC month">
          {usdText(month)}
          {settings && ` of at most ${usdText(settings.ceiling_micros)}`}
        </Fact>
        <Fact name="Last">
          {last ? (
            <>
              {usdText(last.amount_micros)}, {states[last.state]}{' '}
              <Text span inherit c="dimmed">
                <TimeAgo inherit at={last.created_at} />
              </Text>
            </>
          ) : (
            'None'
          )}
        </Fact>
      </SimpleGrid>
    </>
  );
}

/** `Visa ending in 4242` */
export function cardText({ brand, last4 }: NonNullable<AutoTopUp['card']>): string {
  return `${brand.charAt(0).toUpperCase()}${brand.slice(1)} ending in ${last4}`;
}
