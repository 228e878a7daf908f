import { IconLayoutDashboard } from '@tabler/icons-react';
import { EmptyState } from '../../parts/empty-state.tsx';
import { PageHeader } from '../../parts/page-header.tsx';

export function Page() {
  return (
    <>
      <PageHeader title="Overview" />
      <EmptyState icon={IconLayoutDashboard} title="Nothing here yet" />
    </>
  );
}
