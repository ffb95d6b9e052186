-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "audit_entries_mode_idx" ON "audit_entries" ("organization_id", "mode", "at", "id");
