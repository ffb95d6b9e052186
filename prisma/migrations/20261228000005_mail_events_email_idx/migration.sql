-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "mail_events_email_idx" ON "mail_events"("email_id");
