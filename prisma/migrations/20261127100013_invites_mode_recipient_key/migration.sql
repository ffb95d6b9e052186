-- no-transaction
-- Takes the place of invites_recipient_key, in the migration that ends these.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "invites_mode_recipient_key" ON "invites" ("assessment_id", "mode", lower("recipient_email"));
