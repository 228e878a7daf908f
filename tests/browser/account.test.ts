// Tests of the account pages, in one process with one Chromium.
import './overview.ts';
import './keys.ts';
import './requests.ts';
import './request-drawer.ts';
import './models.ts';
import './playground.ts';
import './playground-journeys.ts';
