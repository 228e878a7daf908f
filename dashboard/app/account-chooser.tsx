import { Avatar, Group, Menu, Text, UnstyledButton, VisuallyHidden } from '@mantine/core';
import { IconCheck, IconSelector } from '@tabler/icons-react';
import { useSession } from '../api/session.ts';
import { useChosenAccount, useSwitchAccount } from '../api/account.ts';
import classes from './account-chooser.module.css';

/** Menu to switch accounts. Shows only the name when the user has a single account. */
export function AccountChooser() {
  const { accounts } = useSession();
  const chosen = useChosenAccount();
  const switchAccount = useSwitchAccount();
  if (accounts.length === 0) return null;
  if (accounts.length === 1 && chosen) {
    return (
      <Text className={classes.single} truncate dir="auto" ta="left" title={chosen.name}>
        {chosen.name}
      </Text>
    );
  }
  return (
    <Menu position="bottom-start" width={232}>
      <Menu.Target>
        <UnstyledButton className={classes.button} title={chosen?.name}>
          <VisuallyHidden>Account:</VisuallyHidden>
          <Avatar
            name={chosen?.name ?? '?'}
            size={24}
            radius="sm"
            className={classes.initials}
            aria-hidden
          />
          <Text size="md" fw={500} truncate dir="auto" ta="left">
            {chosen?.name ?? 'Choose an account'}
          </Text>
          <IconSelector size={16} aria-hidden />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown mah={360} className={classes.dropdown}>
        <Menu.Label>Accounts</Menu.Label>
        {accounts.map(({ id, name, role }) => (
          <Menu.Item
            key={id}
            onClick={() => switchAccount(id)}
            rightSection={id === chosen?.id ? <IconCheck size={16} aria-label="selected" /> : null}
          >
            <Group gap={6} wrap="nowrap">
              <Text size="md" truncate dir="auto" ta="left">
                {name}
              </Text>
              <Text size="xs" c="dimmed">
                {role}
              </Text>
            </Group>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
