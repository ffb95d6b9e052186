-- no-transaction
-- Most name none: what does not is not in it.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "paper_questions_assets_idx" ON "paper_questions" USING gin ("asset_ids")
  WHERE "asset_ids" <> '{}';
