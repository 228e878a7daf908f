// Mantine links and buttons for the router. The compiler checks addresses; account and mode are
// kept.
import { Anchor, Button, type AnchorProps, type ButtonProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { ComponentPropsWithRef } from 'react';

type Link<Props> = Props & Omit<ComponentPropsWithRef<'a'>, keyof Props>;

/** `<AppLink to="/keys">Keys</AppLink>` */
export const AppLink = createLink((props: Link<AnchorProps>) => <Anchor {...props} />);

/** `<ButtonLink to="/keys" variant="default">Keys</ButtonLink>` */
export const ButtonLink = createLink((props: Link<ButtonProps>) => (
  <Button component="a" {...props} />
));
