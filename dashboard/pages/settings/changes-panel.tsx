// Who changed what in the account, for its owners.
import { Stack, Text } from '@mantine/core';
import { useApiPages } from '../../api/use-api.ts';
import { AuditTable } from '../../parts/audit-table.tsx';

export function ChangesPanel() {
  const pages = useApiPages('GET /accounts/:account/audit-log', {});
  return (
    <Stack>
      <Text c="dimmed">
        Every change of this account, its keys and its members. Entries cannot be changed or
        deleted.
      </Text>
      <AuditTable pages={pages} />
    </Stack>
  );
}
