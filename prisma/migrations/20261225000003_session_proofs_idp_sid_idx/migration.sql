-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "session_proofs_idp_sid_idx" ON "session_proofs" ("provider_id", "idp_sid");
