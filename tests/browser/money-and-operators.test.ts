// Tests of analytics, billing, the operator's pages, whole journeys, restarts and the documentation, in
// one process with one Chromium.
import './analytics.ts';
import './alerts.ts';
import './owners.ts';
import './billing.ts';
import './customers.ts';
import './first-hour.ts';
import './operator-home.ts';
import './operator-service.ts';
import './saved-settings.ts';
import './journeys.ts';
import './restart.ts';
import './docs.ts';
