-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "members_notices_idx" ON "members"("organization_id") WHERE "notices" <> '{}';
