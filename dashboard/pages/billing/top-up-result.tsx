// The result of a checkout, after the return from Stripe. Stripe notifies the gateway separately, a
// moment before or after.
import { Alert, Loader } from '@mantine/core';
import { IconCheck, IconClock, IconX } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useApi } from '../../api/use-api.ts';
import { usdText } from '../../parts/money-text.ts';

type Props = { readonly topUpId: string; readonly onClose: () => void };

const refetchMs = 2_000;

export function TopUpResult({ topUpId, onClose }: Props) {
  const client = useQueryClient();
  const { data, error } = useApi(
    'GET /accounts/:account/top-ups/:topUp',
    { params: { topUp: topUpId } },
    { refetchMs },
  );
  const state = data?.state;
  useEffect(() => {
    if (state !== 'paid') return;
    for (const key of ['GET /accounts/:account/billing', 'GET /accounts/:account/statement'])
      void client.invalidateQueries({ queryKey: [key] });
  }, [state, client]);
  if (error?.status === 404 || (!data && !error)) return null;
  const amount = data ? usdText(data.amount_micros) : '';
  const close = {
    withCloseButton: true,
    closeButtonLabel: 'Close',
    onClose,
    role: 'status',
  } as const;
  switch (state) {
    case 'paid':
      return (
        <Alert
          color="green"
          icon={<IconCheck aria-hidden />}
          title={`${amount} was added to your balance`}
          {...close}
        >
          Thank you. You can use it now.
        </Alert>
      );
    case 'failed':
    case 'expired':
      return (
        <Alert
          color="red"
          icon={<IconX aria-hidden />}
          title={`Your top-up of ${amount} failed`}
          {...close}
        >
          {state === 'failed'
            ? 'The payment did not go through.'
            : 'The checkout was not finished in time.'}{' '}
          Nothing was charged. You can try again.
        </Alert>
      );
    case 'processing':
      return (
        <Alert
          color="accent"
          icon={<IconClock aria-hidden />}
          title={`Your top-up of ${amount} is being processed`}
          {...close}
        >
          It is added to your balance when it arrives. Bank transfers can take several days.
        </Alert>
      );
    default:
      return (
        <Alert
          color="accent"
          icon={<Loader size={16} aria-hidden />}
          title={`Waiting for your top-up of ${amount}`}
          {...close}
        >
          It is added to your balance once Stripe confirms it. This page updates automatically.
        </Alert>
      );
  }
}
