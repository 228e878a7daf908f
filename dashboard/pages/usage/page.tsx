import { IconActivity } from '@tabler/icons-react';
import { EmptyState } from '../../parts/empty-state.tsx';
import { PageHeader } from '../../parts/page-header.tsx';

export function Page() {
  return (
    <>
      <PageHeader title="Usage" />
      <EmptyState icon={IconActivity} title="Nothing here yet" />
    </>
  );
}
