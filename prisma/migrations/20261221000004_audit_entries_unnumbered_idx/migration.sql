-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "audit_entries_unnumbered_idx" ON "audit_entries"("at", "id") WHERE "position" IS NULL;
