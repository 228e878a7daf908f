import { Badge } from '@mantine/core';

export function KeepsBodies({ days }: { readonly days: number }) {
  return (
    <Badge color="violet" variant="light" tt="none" miw="max-content">
      {`Keeps bodies ${days === 1 ? '1 day' : `${days} days`}`}
    </Badge>
  );
}
