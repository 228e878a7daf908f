import { IconSettings } from '@tabler/icons-react';
import { EmptyState } from '../../parts/empty-state.tsx';
import { PageHeader } from '../../parts/page-header.tsx';

export function Page() {
  return (
    <>
      <PageHeader title="Settings" />
      <EmptyState icon={IconSettings} title="Nothing here yet" />
    </>
  );
}
