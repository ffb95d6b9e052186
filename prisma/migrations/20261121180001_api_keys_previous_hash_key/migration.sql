-- no-transaction
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "api_keys_previous_hash_key" ON "api_keys"("previous_hash");
