import { Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** A labelled value in a drawer: `<Fact name="Vendor">OpenAI</Fact>` */
export function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <Text size="sm" c="dimmed">
        {name}
      </Text>
      <Text component="div">{children}</Text>
    </div>
  );
}
