-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "audit_entries_actor_idx" ON "audit_entries"("organization_id", "actor_id", "at", "id");
