-- no-transaction
-- In place of "ats_orders_natural_key".
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "ats_orders_organization_natural_key"
  ON "ats_orders" ("organization_id", "connection_id", "natural_key") WHERE "cancelled_at" IS NULL;
