-- no-transaction
-- Most name none: what does not is not in it.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "questions_assets_idx" ON "questions" USING gin ("asset_ids")
  WHERE "asset_ids" <> '{}';
