-- no-transaction
-- The invites of one recipient: invites_recipient_key begins with the assessment.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "invites_address_idx" ON "invites" ("organization_id", lower("recipient_email"));
