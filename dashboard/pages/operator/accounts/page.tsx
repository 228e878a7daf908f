import { IconBuildingBank } from '@tabler/icons-react';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { PageHeader } from '../../../parts/page-header.tsx';

export function Page() {
  return (
    <>
      <PageHeader title="Accounts" />
      <EmptyState icon={IconBuildingBank} title="Nothing here yet" />
    </>
  );
}
