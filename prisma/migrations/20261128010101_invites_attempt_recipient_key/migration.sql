-- no-transaction
-- Takes the place of invites_recipient_key, in the migration after this.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "invites_attempt_recipient_key" ON "invites" ("assessment_id", "mode", lower("recipient_email"), "attempt");
