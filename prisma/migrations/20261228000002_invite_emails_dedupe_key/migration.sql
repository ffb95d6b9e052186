-- no-transaction
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "invite_emails_dedupe_key" ON "invite_emails"("organization_id", "invite_id", "dedupe_key") WHERE "dedupe_key" IS NOT NULL;
