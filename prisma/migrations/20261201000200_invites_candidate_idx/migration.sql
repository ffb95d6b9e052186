-- no-transaction
-- The candidates of an organization: each address with its latest invite.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "invites_candidate_idx" ON "invites" ("organization_id", "mode", lower("recipient_email"), "sent_at" DESC, "id" DESC);
