// Tests of the shell, tables, drafts, the account pages, sign-in and settings, in one process with one
// Chromium.
import './shell.ts';
import './drafts.ts';
import './tables.ts';
import './overview.ts';
import './keys.ts';
import './key-journeys.ts';
import './requests.ts';
import './request-drawer.ts';
import './models.ts';
import './playground.ts';
import './playground-journeys.ts';
import './sign-in.ts';
import './settings.ts';
import './passkeys.ts';
