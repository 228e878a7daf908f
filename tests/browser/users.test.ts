// Ways in, and the settings, in one process and one Chromium.
import './sign-in.ts';
import './settings.ts';
