-- no-transaction
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "audit_entries_position_key" ON "audit_entries"("organization_id", "position");
