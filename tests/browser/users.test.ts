// Tests of sign-in and settings, in one process with one Chromium.
import './sign-in.ts';
import './settings.ts';
import './passkeys.ts';
