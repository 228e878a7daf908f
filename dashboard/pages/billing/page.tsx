import { IconCreditCard } from '@tabler/icons-react';
import { EmptyState } from '../../parts/empty-state.tsx';
import { PageHeader } from '../../parts/page-header.tsx';

export function Page() {
  return (
    <>
      <PageHeader title="Billing" />
      <EmptyState icon={IconCreditCard} title="Nothing here yet" />
    </>
  );
}
