-- no-transaction
-- The primary key of the next release: rows can be distributed by it. The present one stays for the release before this.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "bulk_change_rows_organization_id_key" ON "bulk_change_rows"("organization_id", "bulk_change_id", "number");
