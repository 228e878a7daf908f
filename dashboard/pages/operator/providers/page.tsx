import { IconPlugConnected } from '@tabler/icons-react';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { PageHeader } from '../../../parts/page-header.tsx';

export function Page() {
  return (
    <>
      <PageHeader title="Providers" />
      <EmptyState icon={IconPlugConnected} title="Nothing here yet" />
    </>
  );
}
