// The pages of an account, in one process and one Chromium.
import './overview.ts';
import './keys.ts';
import './usage.ts';
import './models.ts';
import './playground.ts';
