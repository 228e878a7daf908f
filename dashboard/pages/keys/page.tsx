import { IconKey } from '@tabler/icons-react';
import { EmptyState } from '../../parts/empty-state.tsx';
import { PageHeader } from '../../parts/page-header.tsx';

export function Page() {
  return (
    <>
      <PageHeader title="Keys" />
      <EmptyState icon={IconKey} title="Nothing here yet" />
    </>
  );
}
