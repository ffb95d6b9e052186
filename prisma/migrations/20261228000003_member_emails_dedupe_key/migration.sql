-- no-transaction
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "member_emails_dedupe_key" ON "member_emails"("organization_id", "member_id", "dedupe_key") WHERE "dedupe_key" IS NOT NULL;
