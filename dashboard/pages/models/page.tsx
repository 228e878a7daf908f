import { IconCube } from '@tabler/icons-react';
import { EmptyState } from '../../parts/empty-state.tsx';
import { PageHeader } from '../../parts/page-header.tsx';

export function Page() {
  return (
    <>
      <PageHeader title="Models" />
      <EmptyState icon={IconCube} title="Nothing here yet" />
    </>
  );
}
