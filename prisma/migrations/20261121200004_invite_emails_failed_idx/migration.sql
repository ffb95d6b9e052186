-- no-transaction
-- An organization's mails that did not reach anybody, the newest first.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "invite_emails_failed_idx" ON "invite_emails" ("organization_id", "created_at", "id")
  WHERE "state" = 'failed' AND "failure" IS DISTINCT FROM 'obsolete';
