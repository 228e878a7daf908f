import { IconClipboardList } from '@tabler/icons-react';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { PageHeader } from '../../../parts/page-header.tsx';

export function Page() {
  return (
    <>
      <PageHeader title="Audit log" />
      <EmptyState icon={IconClipboardList} title="Nothing here yet" />
    </>
  );
}
