import { Group, Text } from '@mantine/core';
import classes from './logo.module.css';
import iconUrl from './icon.svg';

/** The icon and the service's name. */
export function Logo({ name }: { readonly name: string }) {
  return (
    <Group gap={10} wrap="nowrap">
      <img src={iconUrl} width={26} height={26} alt="" />
      <Text fw={650} size="lg" truncate className={classes.name}>
        {name}
      </Text>
    </Group>
  );
}
