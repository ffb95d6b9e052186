-- no-transaction
-- The primary key of the next release: rows can be distributed by it. The present one stays for the release before this.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "assessment_tags_organization_id_key" ON "assessment_tags"("organization_id", "assessment_id", "tag_id");
