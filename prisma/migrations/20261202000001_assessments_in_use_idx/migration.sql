-- no-transaction
-- The portal's list, however many are archived.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "assessments_in_use_idx" ON "assessments" ("organization_id", "created_at", "id")
  WHERE "archived_at" IS NULL;
