// Colours, fonts and component defaults. All colour pairs meet WCAG contrast in light and dark
// mode.
import { createTheme, type CSSVariablesResolver, type MantineColorsTuple } from '@mantine/core';

/** Colour of buttons, links, focus and selections. Everything else is grey. */
const accent: MantineColorsTuple = [
  '#eff4fe',
  '#dde7fc',
  '#bacdf8',
  '#93b0f2',
  '#7396ee',
  '#4d76e4',
  '#3160d8',
  '#2650bd',
  '#1f419a',
  '#18337a',
];

const gray: MantineColorsTuple = [
  '#f8f9fb',
  '#f1f3f6',
  '#e6e9ee',
  '#d8dce3',
  '#c0c6d0',
  '#969eab',
  '#636c7a',
  '#4a5361',
  '#2f3744',
  '#191f2a',
];

/** From text to dimmed text, borders, surfaces and the page. */
const dark: MantineColorsTuple = [
  '#dde1e8',
  '#b9c0cb',
  '#98a1af',
  '#667080',
  '#333a47',
  '#282e39',
  '#1d222b',
  '#13161c',
  '#0f1217',
  '#0a0c10',
];

const green: MantineColorsTuple = [
  '#ecf9f1',
  '#d3f0de',
  '#a6e0bd',
  '#73cd97',
  '#48b875',
  '#2aa35c',
  '#1a7f45',
  '#166c3a',
  '#125a31',
  '#0d4526',
];

const orange: MantineColorsTuple = [
  '#fff5e9',
  '#fee6c9',
  '#fbcb92',
  '#f6ac57',
  '#ec9131',
  '#d97a17',
  '#ae5c0c',
  '#8f4c0a',
  '#744009',
  '#583006',
];

const red: MantineColorsTuple = [
  '#fdf0ef',
  '#fbdcd9',
  '#f5b5b0',
  '#f0918a',
  '#e86f67',
  '#d9453d',
  '#c3322b',
  '#a52721',
  '#861f1a',
  '#681814',
];

const dialogStyles = {
  // Long names and addresses must not push the close button out of the dialog.
  content: { background: 'var(--tollgate-surface)', overflowWrap: 'anywhere' },
  header: { background: 'var(--tollgate-surface)' },
  title: { fontSize: 'var(--mantine-font-size-lg)', fontWeight: 600, lineHeight: 1.4 },
};

export const theme = createTheme({
  primaryColor: 'accent',
  primaryShade: 6,
  colors: { accent, gray, dark, green, orange, red },
  black: '#191f2a',
  fontFamily:
    'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", "Liberation Sans", Arial, sans-serif',
  fontFamilyMonospace:
    'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.25rem' },
  lineHeights: { xs: '1.4', sm: '1.45', md: '1.5', lg: '1.5', xl: '1.4' },
  headings: {
    fontWeight: '600',
    textWrap: 'balance',
    sizes: {
      h1: { fontSize: '1.5rem', lineHeight: '1.3' },
      h2: { fontSize: '1.125rem', lineHeight: '1.4' },
      h3: { fontSize: '1rem', lineHeight: '1.4' },
      h4: { fontSize: '0.875rem', lineHeight: '1.45' },
    },
  },
  radius: { xs: '4px', sm: '6px', md: '8px', lg: '12px', xl: '16px' },
  defaultRadius: 'md',
  shadows: {
    xs: '0 1px 2px rgb(16 24 40 / 6%)',
    sm: '0 1px 3px rgb(16 24 40 / 8%)',
    md: '0 4px 12px rgb(16 24 40 / 10%)',
    lg: '0 12px 28px rgb(16 24 40 / 14%)',
    xl: '0 20px 48px rgb(16 24 40 / 18%)',
  },
  /** Phones end at 700 pixels, tablets at 1000. */
  breakpoints: { xs: '36em', sm: '43.75em', md: '62.5em', lg: '75em', xl: '88em' },
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Button: { defaultProps: { size: 'sm' } },
    Badge: {
      defaultProps: { variant: 'light', radius: 'sm', tt: 'none', fw: 500, fz: 'xs' },
      // Keeps table columns at least as wide as their badges.
      styles: { root: { minWidth: 'max-content', letterSpacing: 0 } },
    },
    CloseButton: { defaultProps: { 'aria-label': 'Close' } },
    Tooltip: {
      defaultProps: {
        withArrow: true,
        openDelay: 250,
        events: { hover: true, focus: true, touch: true },
      },
    },
    Modal: {
      defaultProps: {
        centered: true,
        radius: 'lg',
        overlayProps: { backgroundOpacity: 0.45, blur: 2 },
      },
      styles: dialogStyles,
    },
    Drawer: {
      defaultProps: { overlayProps: { backgroundOpacity: 0.45, blur: 2 }, position: 'right' },
      styles: dialogStyles,
    },
    // The focus placeholder is not allowed inside a menu.
    Menu: { defaultProps: { shadow: 'md', withInitialFocusPlaceholder: false } },
    Popover: { defaultProps: { shadow: 'md' } },
    Paper: { defaultProps: { radius: 'lg' } },
    InputWrapper: {
      styles: {
        label: { marginBottom: 4 },
        description: { marginBottom: 2, fontSize: 'var(--mantine-font-size-xs)' },
        error: { fontSize: 'var(--mantine-font-size-xs)' },
      },
    },
    Skeleton: { defaultProps: { radius: 'sm' } },
    ActionIcon: { defaultProps: { variant: 'subtle', color: 'gray' } },
    // Fields for the browser to fill say so.
    TextInput: { defaultProps: { autoComplete: 'off' } },
    PasswordInput: {
      defaultProps: { visibilityToggleButtonProps: { 'aria-label': 'Show or hide password' } },
    },
  },
});

const statusColors = ['accent', 'gray', 'green', 'orange', 'red'];

/** Mantine's default text tints have too little contrast on its tinted surfaces. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-placeholder': 'var(--mantine-color-gray-6)',
    '--mantine-color-error': 'var(--mantine-color-red-6)',
    '--tollgate-surface': 'var(--mantine-color-white)',
    '--tollgate-side': 'var(--mantine-color-gray-0)',
    '--tollgate-border': 'var(--mantine-color-gray-2)',
    '--tollgate-hover': 'var(--mantine-color-gray-1)',
    '--tollgate-chosen': 'var(--mantine-color-accent-1)',
    ...Object.fromEntries(
      statusColors.flatMap((color) => [
        [`--mantine-color-${color}-light-color`, `var(--mantine-color-${color}-7)`],
        [
          `--mantine-color-${color}-light`,
          `var(--mantine-color-${color}-${color === 'gray' ? 1 : 0})`,
        ],
        [
          `--mantine-color-${color}-light-hover`,
          `var(--mantine-color-${color}-${color === 'gray' ? 2 : 1})`,
        ],
      ]),
    ),
  },
  dark: {
    '--mantine-color-placeholder': 'var(--mantine-color-dark-2)',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
    '--tollgate-surface': '#171b22',
    '--tollgate-side': 'var(--mantine-color-dark-8)',
    '--tollgate-border': 'var(--mantine-color-dark-5)',
    '--tollgate-hover': 'var(--mantine-color-dark-6)',
    '--tollgate-chosen': 'var(--mantine-color-accent-light)',
    ...Object.fromEntries(
      statusColors.flatMap((color) => [
        [`--mantine-color-${color}-light-color`, `var(--mantine-color-${color}-3)`],
        [
          `--mantine-color-${color}-light`,
          `color-mix(in srgb, var(--mantine-color-${color}-5) 16%, transparent)`,
        ],
        [
          `--mantine-color-${color}-light-hover`,
          `color-mix(in srgb, var(--mantine-color-${color}-5) 22%, transparent)`,
        ],
      ]),
    ),
  },
});
