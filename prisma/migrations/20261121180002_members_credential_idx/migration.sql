-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "members_credential_idx" ON "members"("credential_id");
