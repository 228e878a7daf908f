// Billing, what operators do, and whole ways through several pages, in one process and one Chromium.
import './billing.ts';
import './operator-service.ts';
import './journeys.ts';
