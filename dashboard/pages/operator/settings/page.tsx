import { IconAdjustments } from '@tabler/icons-react';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { PageHeader } from '../../../parts/page-header.tsx';

export function Page() {
  return (
    <>
      <PageHeader title="Configuration" />
      <EmptyState icon={IconAdjustments} title="Nothing here yet" />
    </>
  );
}
