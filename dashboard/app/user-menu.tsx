import {
  Avatar,
  Menu,
  Text,
  UnstyledButton,
  useMantineColorScheme,
  VisuallyHidden,
  type MantineColorScheme,
} from '@mantine/core';
import {
  IconCheck,
  IconClock,
  IconDeviceDesktop,
  IconLogout,
  IconMoon,
  IconSettings,
  IconSun,
  IconWorld,
} from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { api } from '../api/client.ts';
import { leaveAllTabs, useUser } from '../api/session.ts';
import { showError } from '../parts/notify.ts';
import { setZone, useZone, zoneName } from '../parts/zone.ts';

const schemes = [
  { value: 'auto', label: 'System', icon: IconDeviceDesktop },
  { value: 'light', label: 'Light', icon: IconSun },
  { value: 'dark', label: 'Dark', icon: IconMoon },
] as const satisfies readonly {
  readonly value: MantineColorScheme;
  readonly label: string;
  readonly icon: unknown;
}[];

const zones = [
  { value: 'local', label: 'Local time', icon: IconClock },
  { value: 'UTC', label: 'UTC', icon: IconWorld },
] as const;

/** Shows the user and offers settings, appearance, the time zone and sign-out. */
export function UserMenu() {
  const user = useUser();
  const navigate = useNavigate();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const zone = useZone();
  const signOut = async () => {
    try {
      await api('POST /auth/sign-out', {});
      await leaveAllTabs();
    } catch (error) {
      showError(error);
    }
  };
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <UnstyledButton style={{ borderRadius: '50%' }}>
          <Avatar name={user.name} color="accent" size={32} radius="xl" aria-hidden />
          <VisuallyHidden>User menu: {user.name}</VisuallyHidden>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="md" fw={500} c="var(--mantine-color-text)" truncate dir="auto" ta="left">
            {user.name}
          </Text>
          <Text size="xs" truncate>
            {user.email}
          </Text>
        </Menu.Label>
        <Menu.Divider />
        <Menu.Item
          leftSection={<IconSettings size={16} aria-hidden />}
          onClick={() => void navigate({ to: '/settings' })}
        >
          Settings
        </Menu.Item>
        <Menu.Divider />
        <Menu.Label>Appearance</Menu.Label>
        {schemes.map(({ value, label, icon: Icon }) => (
          <Menu.Item
            key={value}
            closeMenuOnClick={false}
            leftSection={<Icon size={16} aria-hidden />}
            rightSection={
              colorScheme === value ? <IconCheck size={16} aria-label="selected" /> : null
            }
            onClick={() => setColorScheme(value)}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Label>Times</Menu.Label>
        {zones.map(({ value, label, icon: Icon }) => (
          <Menu.Item
            key={value}
            closeMenuOnClick={false}
            leftSection={<Icon size={16} aria-hidden />}
            rightSection={zone === value ? <IconCheck size={16} aria-label="selected" /> : null}
            onClick={() => setZone(value)}
          >
            {value === 'local' ? `${label} (${zoneName(value)})` : label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item
          leftSection={<IconLogout size={16} aria-hidden />}
          onClick={() => void signOut()}
        >
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
