import { IconMessages } from '@tabler/icons-react';
import { EmptyState } from '../../parts/empty-state.tsx';
import { PageHeader } from '../../parts/page-header.tsx';

export function Page() {
  return (
    <>
      <PageHeader title="Playground" />
      <EmptyState icon={IconMessages} title="Nothing here yet" />
    </>
  );
}
