-- no-transaction
-- Most name none: what does not is not in it.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "library_versions_assets_idx" ON "library_versions" USING gin ("asset_ids")
  WHERE "asset_ids" <> '{}';
