-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "audit_entries_action_idx" ON "audit_entries"("organization_id", "action", "at", "id");
