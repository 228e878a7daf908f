import type { Output } from '../../api/client.ts';
import { Money } from '../../parts/money.tsx';

type Props = { readonly overview: Output<'GET /accounts/:account/billing'> };

export function AvailableHint({ overview }: Props) {
  if (overview.posted_micros <= 0) return 'Paid requests are refused until this is above zero.';
  if (overview.held_micros === 0) return 'Nothing is held.';
  return (
    <>
      of <Money micros={overview.posted_micros} />; the rest is held
    </>
  );
}
