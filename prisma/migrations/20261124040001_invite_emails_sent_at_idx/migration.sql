-- no-transaction
-- How many mails of an organization were sent within a day.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "invite_emails_sent_at_idx" ON "invite_emails" ("organization_id", "sent_at");
