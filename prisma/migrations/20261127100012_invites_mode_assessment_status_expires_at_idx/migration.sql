-- no-transaction
-- Takes the place of invites_assessment_status_expires_at_idx, in the migration that ends these.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "invites_mode_assessment_status_expires_at_idx" ON "invites" ("organization_id", "mode", "assessment_id", "status", "expires_at", "id");
