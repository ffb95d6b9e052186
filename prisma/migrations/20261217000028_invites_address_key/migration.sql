-- no-transaction
-- In place of "invites_recipient_key", by whose name the release before this knows a second invite, and of "invites_address_idx".
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "invites_address_key"
  ON "invites" ("organization_id", lower("recipient_email"), "assessment_id", "mode", "attempt");
