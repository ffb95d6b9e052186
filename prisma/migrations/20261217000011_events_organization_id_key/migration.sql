-- no-transaction
-- The primary key of the next release: rows can be distributed by it. The present one stays for the release before this.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "events_organization_id_key" ON "events"("organization_id", "id");
