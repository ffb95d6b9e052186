-- no-transaction
-- The alternate interface's order among the invites of one assessment: those that a search finds by its name.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "invites_assessment_created_at_idx" ON "invites"("organization_id", "assessment_id", "created_at", "id");
