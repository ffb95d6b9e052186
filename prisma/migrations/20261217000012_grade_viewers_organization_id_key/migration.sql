-- no-transaction
-- The primary key of the next release: rows can be distributed by it. The present one stays for the release before this.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "grade_viewers_organization_id_key" ON "grade_viewers"("organization_id", "submission_id", "member_id");
