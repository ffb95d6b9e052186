-- no-transaction
-- The primary key of the next release: rows can be distributed by it. The present one stays for the release before this.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "assessment_invite_counts_organization_id_key" ON "assessment_invite_counts"("organization_id", "assessment_id", "mode", "status", "slot");
