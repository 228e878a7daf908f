import { IconBook2 } from '@tabler/icons-react';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { PageHeader } from '../../../parts/page-header.tsx';

export function Page() {
  return (
    <>
      <PageHeader title="Catalogue" />
      <EmptyState icon={IconBook2} title="Nothing here yet" />
    </>
  );
}
